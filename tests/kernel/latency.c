// SPDX-License-Identifier: Apache-2.0
/* The workload of latency_test.py: calls that take a known time or fail. It measures each with its
 * own clock and prints "NAME NANOSECONDS", or "NAME NUMBER". */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

static long now_ns(void) {
  struct timespec now;

  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000L + now.tv_nsec;
}

static void sleep_ms(long ms) {
  struct timespec time = {ms / 1000, ms % 1000 * 1000000};

  while (nanosleep(&time, &time) != 0)
    ;
}

static void check(int ok, const char* what) {
  if (ok) return;
  perror(what);
  exit(1);
}

/* A child that calls `act` and ends. */
static pid_t child(void (*act)(int argument), int argument) {
  pid_t pid = fork();

  check(pid >= 0, "fork");
  if (pid == 0) {
    act(argument);
    _exit(0);
  }
  return pid;
}

static int pipe_ends[2];

static void write_later(int ms) {
  sleep_ms(ms);
  check(write(pipe_ends[1], "x", 1) == 1, "write");
}

NOINLINE void read_pipe(void) {
  char byte;
  long start = now_ns();
  long got = syscall(SYS_read, pipe_ends[0], &byte, 1);

  printf("read %ld\n", now_ns() - start);
  check(got == 1 || errno == EINTR, "read");
}

static void reads(void) {
  static const int kWaits[] = {1, 50, 60, 80};

  for (unsigned i = 0; i < sizeof(kWaits) / sizeof(*kWaits); i++) {
    pid_t pid = child(write_later, kWaits[i]);

    read_pipe();
    waitpid(pid, NULL, 0);
  }
}

NOINLINE void fail_calls(void) {
  char byte;

  for (int i = 0; i < 5; i++) syscall(SYS_read, -1, &byte, 1); /* EBADF */
  for (int i = 0; i < 3; i++) syscall(SYS_openat, AT_FDCWD, "/nonexistent/file", O_RDONLY, 0);
  check(syscall(SYS_openat, AT_FDCWD, "/etc/passwd", O_WRONLY | O_DIRECTORY, 0) < 0, "ENOTDIR");
  fcntl(pipe_ends[0], F_SETFL, O_NONBLOCK);
  for (int i = 0; i < 4; i++) syscall(SYS_read, pipe_ends[0], &byte, 1); /* EAGAIN is no error */
}

static int handler_ends[2];

static void on_signal(int signal) {
  (void)signal;
  /* A call of the handler is none of the interrupted one. */
  syscall(SYS_write, handler_ends[1], "h", 1);
}

static void signal_parent(int ms) {
  sleep_ms(ms);
  kill(getppid(), SIGUSR1);
}

static void interrupted(int flags) {
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = flags};

  sigaction(SIGUSR1, &action, NULL);
  check(pipe(handler_ends) == 0, "pipe");
  pid_t signaller = child(signal_parent, 60);
  pid_t writer = child(write_later, 150);

  read_pipe();
  waitpid(signaller, NULL, 0);
  waitpid(writer, NULL, 0);
  /* Ends one that the kernel did not continue. */
  sleep_ms(1);
}

static void stop_parent(int ms) {
  sleep_ms(ms);
  kill(getppid(), SIGSTOP);
  sleep_ms(ms);
  kill(getppid(), SIGCONT);
}

NOINLINE void stopped(void) {
  pid_t pid = child(stop_parent, 50);
  struct timespec time = {0, 200000000};
  long start = now_ns();

  syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &time, NULL);
  printf("sleep %ld\n", now_ns() - start);
  waitpid(pid, NULL, 0);
}

static int is_ready;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void* hold_lock(void* unused) {
  pthread_mutex_lock(&lock);
  __atomic_store_n(&is_ready, 1, __ATOMIC_SEQ_CST);
  sleep_ms(80);
  pthread_mutex_unlock(&lock);
  return unused;
}

NOINLINE void wait_for_lock(void) {
  pthread_t thread;
  long start;

  pthread_create(&thread, NULL, hold_lock, NULL);
  while (!__atomic_load_n(&is_ready, __ATOMIC_SEQ_CST)) sched_yield();
  start = now_ns();
  pthread_mutex_lock(&lock);
  printf("futex %ld\n", now_ns() - start);
  printf("lock %ld\n", (long)&lock);
  pthread_mutex_unlock(&lock);
  pthread_join(thread, NULL);
}

/* Written through the page cache, so that fsync has something to do. */
NOINLINE void sync_file(const char* path) {
  int fd = open(path, O_CREAT | O_RDWR, 0600);
  static char bytes[1 << 16];
  long start;

  check(fd >= 0, path);
  printf("fd %d\n", fd);
  for (int i = 0; i < 3; i++) {
    check(write(fd, bytes, sizeof(bytes)) == sizeof(bytes), "write");
    start = now_ns();
    check(fsync(fd) == 0, "fsync");
    printf("fsync %ld\n", now_ns() - start);
  }
  close(fd);
}

NOINLINE void read_directly(const char* path) {
  int fd = open(path, O_RDONLY | O_DIRECT);
  void* bytes = NULL;
  int blocks = 0;

  check(fd >= 0, path);
  check(posix_memalign(&bytes, 4096, 4096) == 0, "posix_memalign");
  while (blocks < 10 && pread(fd, bytes, 4096, blocks * 4096L) == 4096) blocks++;
  printf("blocks %d\n", blocks);
}

/* A block in each MiB. */
NOINLINE void read_disk(const char* path) {
  int fd = open(path, O_RDONLY | O_DIRECT);
  void* bytes = NULL;
  long start;

  check(fd >= 0, path);
  check(posix_memalign(&bytes, 4096, 4096) == 0, "posix_memalign");
  for (int i = 0; i < 100; i++) {
    start = now_ns();
    check(pread(fd, bytes, 4096, (long)i << 20) == 4096, "pread");
    printf("request %ld\n", now_ns() - start);
  }
}

static void* exec_from_thread(void* unused) {
  (void)unused;
  execl("/nonexistent/program", "program", NULL);
  execl("/bin/true", "true", NULL);
  perror("exec");
  exit(1);
}

static void run_exec(int unused) {
  pthread_t thread;

  (void)unused;
  pthread_create(&thread, NULL, exec_from_thread, NULL);
  pthread_join(thread, NULL);
}

static struct sockaddr_in address_of(int port) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};

  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

static int listening(int backlog, int* port) {
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in address = address_of(0);
  socklen_t size = sizeof(address);

  check(bind(fd, (struct sockaddr*)&address, size) == 0, "bind");
  if (backlog >= 0) check(listen(fd, backlog) == 0, "listen");
  getsockname(fd, (struct sockaddr*)&address, &size);
  *port = ntohs(address.sin_port);
  return fd;
}

NOINLINE int connect_to(int port, int flags) {
  int fd = socket(AF_INET, SOCK_STREAM | flags, 0);
  struct sockaddr_in address = address_of(port);
  long start = now_ns();
  int result = connect(fd, (struct sockaddr*)&address, sizeof(address));

  printf("connect %ld\n", now_ns() - start);
  check(result == 0 || errno == ECONNREFUSED || errno == EINPROGRESS, "connect");
  return fd;
}

static void* connect_late(void* port) {
  sleep_ms(20);
  connect_to(*(int*)port, 0);
  return NULL;
}

NOINLINE int accept_one(int fd) {
  return accept4(fd, NULL, NULL, SOCK_CLOEXEC);
}

static void connects(void) {
  int port, refused;
  int server = listening(8, &port);
  int unused = listening(-1, &refused);

  close(unused);
  printf("port %d\nrefused %d\n", port, refused);
  for (int i = 0; i < 3; i++) connect_to(port, 0);
  for (int i = 0; i < 2; i++) connect_to(refused, 0);
  sleep_ms(70); /* the connections are in the queue */
  for (int i = 0; i < 3; i++) check(accept_one(server) >= 0, "accept");
  pthread_t thread; /* and one that accept waits for */
  pthread_create(&thread, NULL, connect_late, &port);
  check(accept_one(server) >= 0, "accept");
  pthread_join(thread, NULL);
}

/* The first SYN is dropped, because the queue is full. It is sent again after a second. */
static void full_backlog(void) {
  int port, full;
  int server = listening(0, &port);
  struct pollfd ready;

  printf("port %d\n", port);
  connect_to(port, 0);
  full = connect_to(port, SOCK_NONBLOCK);
  long start = now_ns();
  sleep_ms(100);
  check(accept_one(server) >= 0, "accept");
  ready = (struct pollfd){.fd = full, .events = POLLOUT};
  check(poll(&ready, 1, 5000) == 1, "poll");
  printf("established %ld\n", now_ns() - start);
}

static volatile int is_over;

static void* spin(void* unused) {
  while (!is_over)
    ;
  return unused;
}

static long run_delay(void) {
  long runs, waited = 0;
  FILE* file = fopen("/proc/thread-self/schedstat", "r");

  check(file && fscanf(file, "%ld %ld", &runs, &waited) == 2, "schedstat");
  fclose(file);
  return waited;
}

NOINLINE void compete(void) {
  long end = now_ns() + 300000000;
  long before = run_delay();

  while (now_ns() < end)
    ;
  printf("delay %ld\n", run_delay() - before);
}

static void run_queue(void) {
  cpu_set_t cpus;
  pthread_t threads[2];

  CPU_ZERO(&cpus);
  CPU_SET(0, &cpus);
  check(sched_setaffinity(0, sizeof(cpus), &cpus) == 0, "affinity");
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, spin, NULL);
  compete();
  is_over = 1;
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
}

NOINLINE void touch_pages(void) {
  char* pages = malloc(1000 * 4096L + 4096);

  for (int i = 0; i < 1000; i++) pages[i * 4096L] = 1;
  printf("pages 1000\n");
}

/* A query for www.example.com, as of res_query. */
static size_t make_query(unsigned char* packet, int id) {
  static const char kQuestion[] = "\3www\7example\3com\0\0\1\0\1";

  memset(packet, 0, 12);
  packet[0] = id >> 8;
  packet[1] = id;
  packet[5] = 1;
  memcpy(packet + 12, kQuestion, sizeof(kQuestion) - 1);
  return 12 + sizeof(kQuestion) - 1;
}

/* The answer's rcode is the lower half of the id. Waits for as many ms as the upper half says. 15:
 * no answer. */
static void* answer(void* socket) {
  unsigned char packet[512];
  struct sockaddr_in from;
  socklen_t size = sizeof(from);
  ssize_t got;

  while ((got = recvfrom(*(int*)socket, packet, sizeof(packet), 0, (void*)&from, &size)) > 1) {
    if (packet[1] == 15) continue;
    sleep_ms(packet[0]);
    packet[2] |= 0x80;
    packet[3] = packet[1];
    check(sendto(*(int*)socket, packet, got, 0, (void*)&from, size) == got, "sendto");
    size = sizeof(from);
  }
  return NULL;
}

NOINLINE void ask(int fd, int id, int is_connected) {
  struct sockaddr_in server = address_of(53);
  unsigned char packet[512];
  struct iovec buffer = {packet, make_query(packet, id)};
  struct mmsghdr message = {.msg_hdr = {.msg_iov = &buffer, .msg_iovlen = 1}};
  long start = now_ns();

  if (is_connected)
    check(syscall(SYS_sendmmsg, fd, &message, 1, 0) == 1, "sendmmsg");
  else
    check(syscall(SYS_sendto, fd, packet, buffer.iov_len, 0, &server, sizeof(server)) > 0,
          "sendto");
  if ((id & 255) == 15) return;
  if (is_connected)
    check(recvfrom(fd, packet, sizeof(packet), 0, NULL, NULL) > 0, "recvfrom");
  else
    check(recv(fd, packet, sizeof(packet), 0) > 0, "recv");
  printf("dns %ld\n", now_ns() - start);
}

NOINLINE void names(void) {
  struct sockaddr_in address = address_of(53);
  int server = socket(AF_INET, SOCK_DGRAM, 0);
  int client = socket(AF_INET, SOCK_DGRAM, 0);
  pthread_t thread;

  check(bind(server, (void*)&address, sizeof(address)) == 0, "bind to port 53");
  pthread_create(&thread, NULL, answer, &server);
  ask(client, 20 << 8 | 0, 0);
  ask(client, 1 << 8 | 3, 0); /* NXDOMAIN */
  check(connect(client, (void*)&address, sizeof(address)) == 0, "connect");
  ask(client, 30 << 8 | 2, 1); /* SERVFAIL */
  ask(client, 1 << 8 | 15, 1);
  sleep_ms(20);
  ask(client, 1 << 8 | 15, 1); /* asked again */
  sleep_ms(20);
  close(client);
  _exit(0);
}

/* Reads more than its memory cgroup may have. */
NOINLINE void fill_memory(const char* path) {
  static char bytes[1 << 20];
  int fd = open(path, O_RDONLY);

  check(fd >= 0, path);
  while (read(fd, bytes, sizeof(bytes)) > 0)
    ;
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  const char* path = argc > 2 ? argv[2] : "";

  setvbuf(stdout, NULL, _IOLBF, 0);
  check(pipe(pipe_ends) == 0, "pipe");
  sleep_ms(argc > 3 ? atoi(argv[3]) : 100); /* until its unwind tables are loaded */
  printf("pid %d\n", getpid());
  if (strcmp(what, "reads") == 0)
    reads();
  else if (strcmp(what, "errors") == 0)
    fail_calls();
  else if (strcmp(what, "restart") == 0)
    interrupted(SA_RESTART);
  else if (strcmp(what, "interrupt") == 0)
    interrupted(0);
  else if (strcmp(what, "stop") == 0)
    stopped();
  else if (strcmp(what, "lock") == 0)
    wait_for_lock();
  else if (strcmp(what, "sync") == 0)
    sync_file(path);
  else if (strcmp(what, "direct") == 0)
    read_directly(path);
  else if (strcmp(what, "disk") == 0)
    read_disk(path);
  else if (strcmp(what, "exec") == 0)
    waitpid(child(run_exec, 0), NULL, 0);
  else if (strcmp(what, "connect") == 0)
    connects();
  else if (strcmp(what, "backlog") == 0)
    full_backlog();
  else if (strcmp(what, "queue") == 0)
    run_queue();
  else if (strcmp(what, "names") == 0)
    names();
  else if (strcmp(what, "faults") == 0)
    touch_pages();
  else if (strcmp(what, "memory") == 0)
    fill_memory(path);
  else
    check(0, "unknown scenario");
  return 0;
}
