# fresh_ports.py COUNT: so many ports of this machine that nobody listens on now, in one line. Drawn by lot, so that scripts that run
# beside each other hardly meet, and from where nobody else takes any: above those of Kubernetes' own programs, below those that the
# operator gives to replicas (20000), those of services (30000) and those that the kernel gives to connections. So the port of one
# that was killed stays its own. They are free when this has ended, not when it has printed.
import random
import socket
import sys

held = []
while len(held) < int(sys.argv[1]):
    one = socket.socket()
    try:
        one.bind(("", random.randrange(11000, 20000)))  # on no address: so it is free on each
        held.append(one)
    except OSError:
        pass
print(*(one.getsockname()[1] for one in held))
