# fresh_ports.py COUNT: print COUNT ports of this machine that no process listens on, in one line. The ports are random, so that scripts
# that run side by side rarely choose the same. They come from a range that no other program uses: above the ports of Kubernetes' own
# programs, below those that the operator gives to replicas (20000), those of services (30000) and those that the kernel gives to
# connections. So a killed process can use its port again. The ports become free when this program ends, not when it has printed them.
import random
import socket
import sys

held = []
while len(held) < int(sys.argv[1]):
    one = socket.socket()
    try:
        one.bind(("", random.randrange(11000, 20000)))  # on all addresses, so the port is free on each
        held.append(one)
    except OSError:
        pass
print(*(one.getsockname()[1] for one in held))
