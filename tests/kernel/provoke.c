// SPDX-License-Identifier: Apache-2.0
// Causes events of the kernel, each from a function of its own, and prints the kernel's counters of
// them: "RcvbufErrors 150". It works in a new network namespace, so that nothing else counts there.
// Programs of tests compile it.
//
//   provoke SCENARIO [CGROUP]    see kScenarios
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))
// A call before the end of a function, so that the function stays in the call chain.
#define STAY __asm__ volatile("" ::: "memory")

// Ports that the kernel gives to no socket of its own accord (ip_local_port_range).
enum { kUdpPort = 24001, kClosedPort, kFullPort, kDeferredPort, kResetPort };

static const char* const* arguments;

static void Check(int holds, const char* what) {
  if (holds) return;
  perror(what);
  exit(1);
}

// Returns a counter of /proc/net/snmp or /proc/net/netstat: a line of names, then one of values.
static long NetCounter(const char* file, const char* group, const char* name) {
  static char names[8192], values[8192];
  FILE* in = fopen(file, "r");
  Check(in != NULL, file);
  long found = -1;
  while (fgets(names, sizeof names, in) && fgets(values, sizeof values, in)) {
    if (strncmp(names, group, strlen(group)) != 0 || names[strlen(group)] != ':') continue;
    char *at_name = NULL, *at_value = NULL;
    char* each = strtok_r(names, " \n", &at_name);
    char* value = strtok_r(values, " \n", &at_value);
    while (each && value && strcmp(each, name) != 0) {
      each = strtok_r(NULL, " \n", &at_name);
      value = strtok_r(NULL, " \n", &at_value);
    }
    if (each && value) found = atol(value);
  }
  fclose(in);
  return found;
}

static void PrintSnmp(const char* group, const char* name) {
  printf("%s %ld\n", name, NetCounter("/proc/net/snmp", group, name));
}

static struct sockaddr_in Loopback(int port) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

static int Bound(int type, int port) {
  const struct sockaddr_in address = Loopback(port);
  const int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0), on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  Check(bind(fd, (const struct sockaddr*)&address, sizeof address) == 0, "bind");
  return fd;
}

static void EnterNetwork(void) {
  Check(unshare(CLONE_NEWNET) == 0, "unshare");
  const int fd = socket(AF_INET, SOCK_DGRAM, 0);
  struct ifreq request = {.ifr_name = "lo"};
  Check(ioctl(fd, SIOCGIFFLAGS, &request) == 0, "SIOCGIFFLAGS");
  request.ifr_flags |= IFF_UP;
  Check(ioctl(fd, SIOCSIFFLAGS, &request) == 0, "SIOCSIFFLAGS");
  close(fd);
}

static NOINLINE void SendDatagram(int fd, int port) {
  const struct sockaddr_in address = Loopback(port);
  static const char bytes[512];
  sendto(fd, bytes, sizeof bytes, 0, (const struct sockaddr*)&address, sizeof address);
  STAY;
}

// The receiver never reads. From then on its buffer is full.
static NOINLINE void fill_receive_buffer(int fd) {
  for (int i = 0; i < 200; ++i) SendDatagram(fd, kUdpPort);
  STAY;
}

static NOINLINE void send_to_closed_port(int fd) {
  for (int i = 0; i < 100; ++i) SendDatagram(fd, kClosedPort);
  STAY;
}

static void LosePackets(void) {
  const int receiver = Bound(SOCK_DGRAM, kUdpPort), size = 4096;
  setsockopt(receiver, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
  const int sender = socket(AF_INET, SOCK_DGRAM, 0);
  fill_receive_buffer(sender);
  send_to_closed_port(sender);
  PrintSnmp("Udp", "RcvbufErrors");
  PrintSnmp("Udp", "NoPorts");
}

// A TCP header without options and with a wrong checksum.
static NOINLINE void SendSegment(int fd) {
  const struct sockaddr_in address = Loopback(kResetPort);
  struct tcphdr header = {.source = htons(kClosedPort), .dest = htons(kResetPort), .doff = 5};
  header.syn = 1;
  header.check = 0x1234;
  sendto(fd, &header, sizeof header, 0, (const struct sockaddr*)&address, sizeof address);
  STAY;
}

static NOINLINE void send_damaged_segments(int fd) {
  for (int i = 0; i < 30; ++i) SendSegment(fd);
  STAY;
}

static void DamagePackets(void) {
  const int listener = Bound(SOCK_STREAM, kResetPort);
  Check(listen(listener, 1) == 0, "listen");
  const int raw = socket(AF_INET, SOCK_RAW, IPPROTO_TCP);
  Check(raw >= 0, "a raw socket");
  send_damaged_segments(raw);
  PrintSnmp("Tcp", "InErrs");
}

static NOINLINE int Connect(int port, int flags) {
  const struct sockaddr_in address = Loopback(port);
  const int fd = socket(AF_INET, SOCK_STREAM | flags, 0);
  if (connect(fd, (const struct sockaddr*)&address, sizeof address) == 0) return fd;
  const int error = errno;
  if (error == EINPROGRESS) return fd;
  close(fd);
  errno = error;
  return -1;
}

static NOINLINE int connect_to_closed_port(void) {
  int refused = 0;
  for (int i = 0; i < 20; ++i) refused += Connect(kClosedPort, 0) < 0 && errno == ECONNREFUSED;
  return refused;
}

static NOINLINE void CloseAtOnce(int fd) {
  const struct linger no_linger = {.l_onoff = 1};
  setsockopt(fd, SOL_SOCKET, SO_LINGER, &no_linger, sizeof no_linger);
  close(fd);
  STAY;
}

static NOINLINE int abort_connections(int listener) {
  int aborted = 0;
  for (int i = 0; i < 10; ++i) {
    const int client = Connect(kResetPort, 0), server = accept(listener, NULL, NULL);
    Check(client >= 0 && server >= 0, "connect");
    CloseAtOnce(client);
    char byte;
    aborted += read(server, &byte, 1) < 0 && errno == ECONNRESET;
    close(server);
  }
  return aborted;
}

static void ResetConnections(void) {
  const int listener = Bound(SOCK_STREAM, kResetPort);
  Check(listen(listener, 16) == 0, "listen");
  const int refused = connect_to_closed_port();
  const int aborted = abort_connections(listener);
  PrintSnmp("Tcp", "OutRsts");
  printf("Received %d\n", refused + aborted);
}

// The first connection fills the queue of the listener. It drops the SYNs of the others.
static NOINLINE void connect_to_full_queue(int* fds) {
  const int listener = Bound(SOCK_STREAM, kFullPort);
  Check(listen(listener, 0) == 0, "listen");
  for (int i = 0; i < 4; ++i) fds[i] = Connect(kFullPort, SOCK_NONBLOCK);
}

// The listener waits for data. Without data, it sends its SYN and ACK again after a second.
static NOINLINE void connect_without_data(int* fds) {
  const int listener = Bound(SOCK_STREAM, kDeferredPort), seconds = 1;
  setsockopt(listener, IPPROTO_TCP, TCP_DEFER_ACCEPT, &seconds, sizeof seconds);
  Check(listen(listener, 16) == 0, "listen");
  for (int i = 0; i < 3; ++i) fds[i] = Connect(kDeferredPort, SOCK_NONBLOCK);
}

static void RetransmitSegments(void) {
  int fds[7];
  connect_to_full_queue(fds);
  connect_without_data(fds + 4);
  sleep(4);
  PrintSnmp("Tcp", "RetransSegs");
  printf("TCPSynRetrans %ld\n", NetCounter("/proc/net/netstat", "TcpExt", "TCPSynRetrans"));
}

static NOINLINE void exhaust_memory(void) {
  const size_t size = (size_t)256 << 20;
  volatile char* const memory =
      mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (size_t at = 0; at < size; at += 4096) memory[at] = 1;
  STAY;
}

// Two processes, one after the other, exhaust the memory of the control group in the argument.
static void RunOutOfMemory(void) {
  int killed = 0;
  for (int i = 0; i < 2; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      FILE* const procs = fopen(arguments[2], "w");
      Check(procs != NULL && fprintf(procs, "%d\n", (int)getpid()) > 0 && fclose(procs) == 0,
            arguments[2]);
      exhaust_memory();
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    killed += WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  }
  printf("Killed %d\n", killed);
}

// Fields 10 and 12 of /proc/self/stat.
static void ReadFaults(long* minor, long* major) {
  char line[1024] = "";
  const int fd = open("/proc/self/stat", O_RDONLY);
  Check(fd >= 0 && read(fd, line, sizeof line - 1) > 0, "/proc/self/stat");
  close(fd);
  Check(
      sscanf(strrchr(line, ')') + 1, " %*c %*d %*d %*d %*d %*d %*u %ld %*u %ld", minor, major) == 2,
      "/proc/self/stat");
}

enum { kPages = 500 };

static NOINLINE void touch_pages(volatile char* memory) {
  for (size_t page = 0; page < kPages; ++page) memory[page * 4096] = 1;
  STAY;
}

static NOINLINE char read_pages(const volatile char* memory) {
  char sum = 0;
  for (size_t page = 0; page < kPages; ++page) sum += memory[page * 4096];
  return sum;
}

// Returns a file whose pages are on the disk only.
static int UncachedFile(void) {
  const int fd = open(".", O_TMPFILE | O_RDWR, 0600);
  static char page[4096];
  Check(fd >= 0, "O_TMPFILE");
  for (int i = 0; i < kPages; ++i) Check(write(fd, page, sizeof page) == sizeof page, "write");
  Check(fsync(fd) == 0, "fsync");
  posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
  return fd;
}

static void FaultPages(void) {
  const size_t size = (size_t)kPages * 4096;
  char* const memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  char* const file = mmap(NULL, size, PROT_READ, MAP_SHARED, UncachedFile(), 0);
  Check(memory != MAP_FAILED && file != MAP_FAILED, "mmap");
  madvise(memory, size, MADV_NOHUGEPAGE);
  madvise(file, size, MADV_RANDOM);
  long minor[3], major[3];
  ReadFaults(minor, major);  // the first call touches pages, too
  ReadFaults(minor, major);
  touch_pages(memory);
  ReadFaults(minor + 1, major + 1);
  read_pages(file);
  ReadFaults(minor + 2, major + 2);
  printf("Minor %ld\nMajor %ld\n", minor[1] - minor[0], major[2] - major[1]);
}

static NOINLINE void call_getppid(void) {
  for (int i = 0; i < 300; ++i) syscall(SYS_getppid);
  STAY;
}

static NOINLINE long burn(void) {
  struct timespec start, now;
  clock_gettime(CLOCK_MONOTONIC, &start);
  volatile long sum = 0;
  do {
    for (int i = 0; i < 100000; ++i) sum += i;
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while (now.tv_sec - start.tv_sec < 1);
  return sum;
}

static void CauseAll(void) {
  LosePackets();
  ResetConnections();
  FaultPages();
  call_getppid();
  burn();
}

static const struct {
  const char* name;
  void (*run)(void);
} kScenarios[] = {
    {"packets", LosePackets},
    {"damage", DamagePackets},
    {"resets", ResetConnections},
    {"retransmit", RetransmitSegments},
    {"memory", RunOutOfMemory},
    {"faults", FaultPages},
    {"all", CauseAll},
};

int main(int count, char** values) {
  arguments = (const char* const*)values;
  EnterNetwork();
  for (size_t i = 0; i < sizeof kScenarios / sizeof *kScenarios; ++i) {
    if (count > 1 && strcmp(values[1], kScenarios[i].name) == 0) {
      kScenarios[i].run();
      return 0;
    }
  }
  fprintf(stderr, "usage: provoke SCENARIO [CGROUP]\n");
  return 2;
}
