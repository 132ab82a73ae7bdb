"""Joins two point-to-point interfaces, and hands packets over some time after they came.

usage: delayed_link.py INTERFACE INTERFACE SECONDS

Makes both interfaces and prints a line when they are there. They may be moved into other network namespaces
then. Ends with its standard input.
"""

import collections
import fcntl
import os
import select
import struct
import sys
import time

# From <linux/if_tun.h>.
TUNSETIFF = 0x400454CA
IFF_TUN = 0x0001
IFF_NO_PI = 0x1000


def interface(name):
    file = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(file, TUNSETIFF, struct.pack("16sH", name.encode(), IFF_TUN | IFF_NO_PI))
    return file


def main():
    first, second = interface(sys.argv[1]), interface(sys.argv[2])
    delay = float(sys.argv[3])
    print("ready", flush=True)
    other = {first: second, second: first}
    waiting = collections.deque()
    while True:
        wait = max(0.0, waiting[0][0] - time.monotonic()) if waiting else None
        readable, _, _ = select.select([first, second, sys.stdin], [], [], wait)
        if sys.stdin in readable:
            return
        for file in readable:
            try:
                while True:
                    packet = os.read(file, 65536)
                    waiting.append((time.monotonic() + delay, other[file], packet))
            except BlockingIOError:
                pass
        while waiting and waiting[0][0] <= time.monotonic():
            _, file, packet = waiting.popleft()
            try:
                os.write(file, packet)
            except OSError:
                pass  # An interface that is down loses it.


main()
