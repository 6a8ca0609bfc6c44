# SPDX-License-Identifier: Apache-2.0
"""The workload of latency_in_progress_test.py: more calls at a time than the recorder follows, or calls that never end.
Prints its pid, and the numbers that its scenario (SCENARIOS) knows.

    calls_in_progress.py SCENARIO [NUMBER...]"""

import concurrent.futures
import contextlib
import mmap
import os
import pathlib
import signal
import socket
import sys
import threading
import time

LOOPBACK = "127.0.0.1"
BLOCK = 4096
QUERY = b"\0\0\1\0\0\1\0\0\0\0\0\0\3www\7example\3com\0\0\1\0\1"


def listening(backlog):
    server = socket.socket()
    server.bind((LOOPBACK, 0))
    server.listen(backlog)
    return server


def connect_to_full_queue(count):
    """So many sockets that connect. The queue has room for some; the others wait for an answer."""
    server = listening(0)
    clients = [socket.socket() for _ in range(count)]
    for client in clients:
        client.setblocking(False)
        client.connect_ex(server.getsockname())
    established = 0
    for client in clients:
        with contextlib.suppress(OSError):
            client.getpeername()
            established += 1
    print(f"established {established}")
    return server, clients


def connect_to_closed_port(count):
    with listening(0) as server:
        closed = server.getsockname()
    for _ in range(count):
        with socket.socket() as client:
            client.connect_ex(closed)


def connects(count, after):
    _, clients = connect_to_full_queue(count)
    for client in clients:
        client.close()
    connect_to_closed_port(after)


def connects_elsewhere(count, after, begin, end):
    """They begin on one CPU and end on another one."""
    os.sched_setaffinity(0, {begin})
    _, clients = connect_to_full_queue(count)
    os.sched_setaffinity(0, {end})
    for client in clients:
        client.close()
    os.sched_setaffinity(0, {begin})
    connect_to_closed_port(after)


def queries(sockets, ids, after):
    """Nobody reads an answer."""
    def ask(count, ids):
        clients = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(count)]
        for client in clients:
            for number in range(ids):
                client.sendto(number.to_bytes(2, "big") + QUERY[2:], (LOOPBACK, 53))
        for client in clients:
            client.close()
    ask(sockets, ids)
    for _ in range(after):
        ask(1, 1)


def query_with_copy():
    """A copy of the descriptor is closed at once, the socket 50 ms later."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.sendto(QUERY, (LOOPBACK, 53))
        client.dup().close()
        time.sleep(0.05)


def connect_and_accept(server, count):
    clients = []
    for _ in range(count):
        clients.append(socket.create_connection(server.getsockname()))
        clients.append(server.accept()[0])
    return clients


def round_trips(count, after):
    server = listening(count)
    for each in connect_and_accept(server, count):
        each.close()
    for _ in range(after):
        for each in connect_and_accept(server, 1):
            each.close()


def accepts(count, after):
    server = listening(count)
    clients = [socket.create_connection(server.getsockname()) for _ in range(count)]
    clients += [server.accept()[0] for _ in range(count)]
    clients += connect_and_accept(server, after)


def accepts_later(count, ready, go):
    """In turn with the test, which accepts connections that are not recorded."""
    pathlib.Path(ready).touch()
    while not os.path.exists(go):
        time.sleep(0.01)
    server = listening(count)
    for _ in range(count):
        for each in connect_and_accept(server, 1):
            each.close()


def reads(threads, count, path):
    """Without the page cache, of blocks that the kernel does not join."""
    file = os.open(path, os.O_RDONLY | os.O_DIRECT)

    def read(thread):
        memory = mmap.mmap(-1, BLOCK)
        for number in range(count):
            os.preadv(file, [memory], 2 * BLOCK * (thread * count + number))
    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        for _ in pool.map(read, range(threads)):
            pass


def wait_in_two_threads():
    lock = threading.Lock()
    lock.acquire()
    thread = threading.Thread(target=lock.acquire)
    thread.start()
    thread.join()


def exit_beside_a_thread(block):
    """Ends the process while a thread of it is in a call."""
    thread = threading.Thread(target=block, daemon=True)
    thread.start()
    wait_until_asleep(os.getpid(), [thread.native_id])
    os._exit(0)


def wait_until_asleep(pid, threads=None):
    """Until all threads of the process, or these, wait."""
    def is_asleep(thread):
        return pathlib.Path(f"/proc/{pid}/task/{thread}/stat").read_text().rpartition(") ")[2][0] == "S"

    while not all(map(is_asleep, threads or os.listdir(f"/proc/{pid}/task"))):
        time.sleep(0.01)


def child(act, *arguments):
    pid = os.fork()
    if pid == 0:
        act(*arguments)
        os._exit(1)
    return pid


def kill(pid):
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    print(f"killed {pid}", flush=True)


def killed():
    """Calls that never end: of processes that are killed while they are stopped, or while they wait, and of a thread whose
    process exits. Waits for a line after each step."""
    empty, unused = os.pipe()
    calls = [(time.sleep, 3600), (os.read, empty, 1)]
    children = [child(*call) for call in calls] + [child(wait_in_two_threads)]
    for pid, threads in zip(children, (1, 1, 2)):
        while len(os.listdir(f"/proc/{pid}/task")) < threads:
            time.sleep(0.01)
        wait_until_asleep(pid)
        os.kill(pid, signal.SIGSTOP)
        os.waitpid(pid, os.WUNTRACED)
    print("stopped", flush=True)
    sys.stdin.readline()
    for pid in children:
        kill(pid)
    for call in calls:
        pid = child(*call)
        wait_until_asleep(pid)
        kill(pid)
        os.waitpid(child(exit_beside_a_thread, lambda act=call[0], argument=call[1:]: act(*argument)), 0)
    os.close(unused)
    print("over", flush=True)
    sys.stdin.readline()


SCENARIOS = {"connects": connects, "connects-elsewhere": connects_elsewhere, "queries": queries,
             "query-with-copy": query_with_copy,
             "round-trips": round_trips, "accepts": accepts, "accepts-later": accepts_later, "reads": reads,
             "killed": killed}

if __name__ == "__main__":
    print(f"pid {os.getpid()}", flush=True)
    SCENARIOS[sys.argv[1]](*(int(word) if word.isdigit() else word for word in sys.argv[2:]))
