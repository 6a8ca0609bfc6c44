// SPDX-License-Identifier: Apache-2.0
/* The workload of latency_counts_test.py and of the bench of latency probes: calls whose number or
 * times it knows.
 *
 *   known_calls count PROCESSES SECONDS [DIRECTORY...]
 *     In each process, on one CPU after the other: getppid until the time is over, in turn in each
 *     of these cgroups. Prints "pid PID" and "calls CALLS" of each, and "rate CALLS" of all, a
 * second. known_calls connect PROCESSES CALLS In each process: connections to a port of this
 * machine that is closed. Prints "pid PID" and "calls CALLS" of each. known_calls repeat CALLS
 *     Calls getppid so many times. Prints "cpu NANOSECONDS" of CPU time of a call.
 *   known_calls sleep THREADS CALLS
 *     In each thread: sleeps of 0.5 to 20 ms. Prints "sleep NANOSECONDS" of each, by its own clock.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* So many calls between two looks at the clock. */
#define BATCH 1000

static long clock_ns(clockid_t clock) {
  struct timespec now;

  clock_gettime(clock, &now);
  return now.tv_sec * 1000000000L + now.tv_nsec;
}

static void check(int ok, const char* what) {
  if (ok) return;
  perror(what);
  exit(1);
}

static void use_cpu(int number) {
  cpu_set_t all, one;

  check(sched_getaffinity(0, sizeof all, &all) == 0, "sched_getaffinity");
  number %= CPU_COUNT(&all);
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
    if (!CPU_ISSET(cpu, &all) || number-- > 0) continue;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    check(sched_setaffinity(0, sizeof one, &one) == 0, "sched_setaffinity");
    return;
  }
}

static void enter(const char* directory) {
  char path[4096];

  snprintf(path, sizeof path, "%s/cgroup.procs", directory);
  int file = open(path, O_WRONLY);

  check(file >= 0, path);
  check(write(file, "0", 1) == 1, path);
  close(file);
}

static long call_until(long end_ns, char** directories, int count) {
  long calls = 0;

  for (int turn = 0; calls == 0 || clock_ns(CLOCK_MONOTONIC) < end_ns; turn++) {
    if (count > 0) enter(directories[turn % count]);
    for (int i = 0; i < BATCH; i++) syscall(SYS_getppid);
    calls += BATCH;
  }
  return calls;
}

static void count_calls(int processes, double seconds, char** directories, int count) {
  long* calls = mmap(NULL, processes * sizeof(*calls), PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  long start_ns = clock_ns(CLOCK_MONOTONIC);
  long all = 0;

  check(calls != MAP_FAILED, "mmap");
  for (int i = 0; i < processes; i++) {
    pid_t pid = fork();

    check(pid >= 0, "fork");
    if (pid != 0) {
      printf("pid %d\n", pid);
      continue;
    }
    use_cpu(i);
    calls[i] = call_until(start_ns + (long)(seconds * 1e9), directories, count);
    _exit(0);
  }
  while (wait(NULL) > 0)
    ;
  for (int i = 0; i < processes; i++) {
    printf("calls %ld\n", calls[i]);
    all += calls[i];
  }
  printf("rate %.0f\n", all * 1e9 / (clock_ns(CLOCK_MONOTONIC) - start_ns));
}

static void connect_often(long calls) {
  struct sockaddr_in closed = {.sin_family = AF_INET, .sin_port = htons(1)};

  closed.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  for (long i = 0; i < calls; i++) {
    int client = socket(AF_INET, SOCK_STREAM, 0);

    check(client >= 0, "socket");
    check(connect(client, (void*)&closed, sizeof closed) < 0 && errno == ECONNREFUSED,
          "port 1 is open");
    close(client);
  }
}

static void connect_in_processes(int processes, long calls) {
  for (int i = 0; i < processes; i++) {
    pid_t pid = fork();

    check(pid >= 0, "fork");
    if (pid == 0) {
      connect_often(calls);
      _exit(0);
    }
    printf("pid %d\ncalls %ld\n", pid, calls);
  }
  for (int status = 0; wait(&status) > 0;) check(status == 0, "a process failed");
}

static void repeat(long calls) {
  long start_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);

  for (long i = 0; i < calls; i++) syscall(SYS_getppid);
  printf("cpu %.1f\n", (double)(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - start_ns) / calls);
}

static long sleeps_of_thread;
static long* slept_ns;

static void* sleep_often(void* number) {
  unsigned seed = (unsigned)(long)number + 1;

  for (long i = 0; i < sleeps_of_thread; i++) {
    /* Each ratio of times is as frequent as any other. */
    long ns = 5e5 * pow(40, rand_r(&seed) / (double)RAND_MAX);
    struct timespec time = {0, ns};
    long start_ns = clock_ns(CLOCK_MONOTONIC);

    check(syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &time, NULL) == 0, "clock_nanosleep");
    slept_ns[(long)number * sleeps_of_thread + i] = clock_ns(CLOCK_MONOTONIC) - start_ns;
  }
  return NULL;
}

static void sleep_in_threads(int threads, long calls) {
  pthread_t* all = calloc(threads, sizeof *all);

  sleeps_of_thread = calls;
  slept_ns = calloc(threads * calls, sizeof *slept_ns);
  for (long i = 0; i < threads; i++)
    check(pthread_create(&all[i], NULL, sleep_often, (void*)i) == 0, "pthread_create");
  for (int i = 0; i < threads; i++) pthread_join(all[i], NULL);
  for (long i = 0; i < threads * calls; i++) printf("sleep %ld\n", slept_ns[i]);
}

int main(int argc, char** argv) {
  const char* what = argc > 2 ? argv[1] : "";

  if (strcmp(what, "count") == 0 && argc > 3) {
    setvbuf(stdout, NULL, _IOLBF, 0); /* nothing that a child would print again */
    count_calls(atoi(argv[2]), atof(argv[3]), argv + 4, argc - 4);
  } else if (strcmp(what, "connect") == 0 && argc > 3) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    connect_in_processes(atoi(argv[2]), atol(argv[3]));
  } else if (strcmp(what, "repeat") == 0) {
    repeat(atol(argv[2]));
  } else if (strcmp(what, "sleep") == 0 && argc > 3) {
    sleep_in_threads(atoi(argv[2]), atol(argv[3]));
  } else {
    fprintf(stderr, "known_calls count|connect|repeat|sleep NUMBER...\n");
    return 1;
  }
  return 0;
}
