/* A library to preload: every answer over a socket costs 2,000 instructions more, or two for each of ROUNDS, in
 * a function of a known name. Which function a server sends with differs: old ones write, newer ones send.
 *
 * It includes nothing, so that it can be compiled for 32 bits where only headers for 64 are installed. */

typedef __SIZE_TYPE__ size;
typedef __PTRDIFF_TYPE__ count;

extern int *__errno_location(void);

/* Numbers of Linux: options of sockets, and the calls themselves. */
enum { LEVEL_SOCKET = 1, SOCKET_TYPE = 3 };

#ifdef __x86_64__

enum { CALL_WRITE = 1, CALL_SENDTO = 44, CALL_GETSOCKOPT = 55 };

static count call(long number, long a, long b, long c, long d, long e)
{
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = 0;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

static count call_write(int fd, const void *bytes, size length)
{
    return call(CALL_WRITE, fd, (long)bytes, (long)length, 0, 0);
}

static count call_send(int fd, const void *bytes, size length, int flags)
{
    return call(CALL_SENDTO, fd, (long)bytes, (long)length, flags, 0);
}

static count call_getsockopt(int fd, int level, int option, void *value, unsigned *length)
{
    return call(CALL_GETSOCKOPT, fd, level, option, (long)value, (long)length);
}

#elif defined(__i386__)

/* Calls for sockets are one call with a number of its own and a table of arguments. */
enum { CALL_WRITE = 4, CALL_SOCKET = 102, SOCKET_SEND = 9, SOCKET_GETSOCKOPT = 15 };

static count call(long number, long a, long b, long c)
{
    long result;
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(number), "b"(a), "c"(b), "d"(c) : "memory");
    return result;
}

static count call_write(int fd, const void *bytes, size length)
{
    return call(CALL_WRITE, fd, (long)bytes, (long)length);
}

static count call_send(int fd, const void *bytes, size length, int flags)
{
    long table[] = {fd, (long)bytes, (long)length, flags};
    return call(CALL_SOCKET, SOCKET_SEND, (long)table, 0);
}

static count call_getsockopt(int fd, int level, int option, void *value, unsigned *length)
{
    long table[] = {fd, level, option, (long)value, (long)length};
    return call(CALL_SOCKET, SOCKET_GETSOCKOPT, (long)table, 0);
}

#else
#error "the loop is written for processors of the x86 kind"
#endif

static count answered(count result)
{
    if (result >= 0)
        return result;
    *__errno_location() = (int)-result;
    return -1;
}

#ifndef ROUNDS
#define ROUNDS 999
#endif

/* Two instructions a round, and a handful around them. */
__attribute__((noinline)) void prony_known_cost(void)
{
    unsigned rounds = ROUNDS;
    __asm__ volatile("1: dec %0\n\tjnz 1b" : "+r"(rounds) : : "cc");
}

count send(int fd, const void *bytes, size length, int flags)
{
    prony_known_cost();
    return answered(call_send(fd, bytes, length, flags));
}

count write(int fd, const void *bytes, size length)
{
    int type;
    unsigned bytes_of_type = sizeof type;
    if (call_getsockopt(fd, LEVEL_SOCKET, SOCKET_TYPE, &type, &bytes_of_type) == 0)
        prony_known_cost();
    return answered(call_write(fd, bytes, length));
}
