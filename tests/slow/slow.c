/* A server slowed on purpose: preloaded, this library burns PERCENT of the processor time that each
 * thread uses otherwise, before the thread sends on a socket. Servers send once for each answer, so
 * that every statement gets slower by the same share. A test tool: `cargo xtask slow` builds it.
 *
 * Wrapped are the functions that servers from MySQL 5.0 to 9.7 and MariaDB 10.5 to 11.8 send with
 * (`nm -D --undefined-only mysqld`). They call the kernel themselves, so that the library needs
 * nothing that is newer than the C library of the oldest build.
 *
 * Time is that of CLOCK_THREAD_CPUTIME_ID, kernel included. In valgrind, where instructions are
 * counted in user space, the same rounds are burnt by the same clock: there, time is spent in
 * proportion to the executed basic blocks, and a round has short ones as a server has. */

#define _GNU_SOURCE
#include <errno.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#ifndef PERCENT
#error "name the share that is burnt: -DPERCENT=5"
#endif

/* Rounds that are timed when the library is loaded, and readings of the clock. */
#define TIMED_ROUNDS 20000
#define TIMED_READINGS 64
/* Burning fewer rounds than this would mostly read the clock; the thread owes them until later. */
#define LEAST_ROUNDS 16

/* In nanoseconds, measured when the library is loaded. */
static double round_ns;
static double reading_ns;

/* Of this thread, in nanoseconds: burnt so far. */
static __thread double burnt;
/* A socket that this thread has sent on; 0 for none. */
static __thread int known_socket;
/* State of its burning, and the block that is executed next. */
static __thread unsigned int state;
static __thread unsigned char next;

static double used(void)
{
    struct timespec t;
    syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

/* Work like a server's: much code that is seldom executed twice in a row, with calls, short basic
 * blocks, and branches that are hard to predict. 256 functions that differ in a constant. */
#define BLOCK(n)                                                                                   \
    static __attribute__((noinline)) unsigned int block##n(unsigned int x)                         \
    {                                                                                              \
        x ^= x << 13;                                                                              \
        x ^= x >> 17;                                                                              \
        x ^= x << 5;                                                                               \
        if (x & 1)                                                                                 \
            x += 0x9e3779b9u ^ n;                                                                  \
        if ((x & 6) == 2)                                                                          \
            x ^= x >> 3;                                                                           \
        return x + n;                                                                              \
    }
#define NAME(n) block##n,
#define SIXTEEN(m, p)                                                                              \
    m(p##0) m(p##1) m(p##2) m(p##3) m(p##4) m(p##5) m(p##6) m(p##7)                                \
    m(p##8) m(p##9) m(p##a) m(p##b) m(p##c) m(p##d) m(p##e) m(p##f)
#define ALL(m)                                                                                     \
    SIXTEEN(m, 0x0) SIXTEEN(m, 0x1) SIXTEEN(m, 0x2) SIXTEEN(m, 0x3)                                \
    SIXTEEN(m, 0x4) SIXTEEN(m, 0x5) SIXTEEN(m, 0x6) SIXTEEN(m, 0x7)                                \
    SIXTEEN(m, 0x8) SIXTEEN(m, 0x9) SIXTEEN(m, 0xa) SIXTEEN(m, 0xb)                                \
    SIXTEEN(m, 0xc) SIXTEEN(m, 0xd) SIXTEEN(m, 0xe) SIXTEEN(m, 0xf)

ALL(BLOCK)
static unsigned int (*const blocks[])(unsigned int) = {ALL(NAME)};

static void burn(double rounds)
{
    unsigned int x = state;
    for (long left = (long)rounds; left > 0; left--)
        x = blocks[next++](x);
    state = x;
}

__attribute__((constructor)) static void measure(void)
{
    burn(TIMED_ROUNDS); /* In valgrind, the first rounds are translated. */
    double start = used();
    burn(TIMED_ROUNDS);
    round_ns = (used() - start) / TIMED_ROUNDS;
    reading_ns = 1e9;
    for (int i = 0; i < TIMED_READINGS; i++) {
        start = used();
        double took = used() - start;
        if (took < reading_ns)
            reading_ns = took;
    }
}

/* Burns what this thread owes. Reading the clock counts as burnt, and what is burnt too much or too
 * little is made good the next time. */
static void pay(void)
{
    if (round_ns <= 0) /* Another library sends while it is loaded. */
        return;
    double now = used();
    burnt += reading_ns;
    double owed = (now - burnt) * PERCENT / 100.0 - burnt;
    if (owed > reading_ns + LEAST_ROUNDS * round_ns) {
        burn((owed - reading_ns) / round_ns);
        burnt += used() - now;
    }
}

static int is_socket(int fd)
{
    int kind;
    socklen_t size = sizeof kind;
    if (fd == known_socket && fd > 0)
        return 1;
    if (syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_TYPE, &kind, &size) != 0)
        return 0;
    known_socket = fd;
    return 1;
}

/* For functions that write into files, too. */
static void pay_for_answer(int fd)
{
    int before = errno;
    if (is_socket(fd))
        pay();
    errno = before;
}

ssize_t sendto(int fd, const void *data, size_t size, int flags, const struct sockaddr *to,
               socklen_t length)
{
    pay();
    return syscall(SYS_sendto, fd, data, size, flags, to, length);
}

ssize_t send(int fd, const void *data, size_t size, int flags)
{
    return sendto(fd, data, size, flags, NULL, 0);
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    pay();
    return syscall(SYS_sendmsg, fd, message, flags);
}

ssize_t write(int fd, const void *data, size_t size)
{
    pay_for_answer(fd);
    return syscall(SYS_write, fd, data, size);
}

/* The name that MySQL 5.0 was linked with. */
ssize_t __write(int fd, const void *data, size_t size)
{
    return write(fd, data, size);
}

ssize_t writev(int fd, const struct iovec *parts, int count)
{
    pay_for_answer(fd);
    return syscall(SYS_writev, fd, parts, count);
}
