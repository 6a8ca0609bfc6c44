// SPDX-License-Identifier: Apache-2.0
// Programs whose critical path is known: what their main thread did, and what it waited for. Each
// measures the parts with its own clocks, and prints one JSON object at its end:
//
//   {"pid": N, "window_ns": N, "stopped_ns": N, "parts": {"hold_lock": N, "timer": N}}
//
// A part has the name of the function that computes, and its CPU time on the path. These are no
// CPU time: "timer" is the time for which timers were set, on the path, and "sync_block" the time
// for which this function waited for a disk. "stopped_ns" is CPU time in which the loop that
// computes did not go on, as when a hypervisor stops the CPU.
//
//   known_path requests     a request waits for a mutex, asks a child that sleeps, and computes
//   known_path pipeline     three processes with pipes between them; the second one is the slowest
//   known_path pool         jobs for a thread pool; each result is waited for
//   known_path convoy       32 threads that wait for one mutex, one behind the other
//   known_path disk [FILE]  writes to a file, and waits until the disk has the data
//   known_path futex        waits for a futex in memory shared with a process that computes
//   known_path epoll        asks a server on the loopback interface
//
// On a busy machine, one thread computes while another one has a reason to wait but is not on a CPU
// to do so. This is no part of the path. So a thread reads, when it begins to wait, what the other
// one has computed so far, and that one says how much it was when it ended the wait.
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <iterator>
#include <map>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

constexpr std::int64_t kMs = 1'000'000;

std::int64_t Now(clockid_t clock = CLOCK_MONOTONIC) {
  timespec time{};
  clock_gettime(clock, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

void Require(bool condition) {
  if (condition) return;
  std::perror("known_path");
  std::_Exit(1);
}

// What each process and thread has computed so far, in nanoseconds of CPU time. Shared by all.
struct Computed {
  std::atomic<std::int64_t> by_main = 0, by_other = 0, by_first = 0;
  std::atomic<std::int64_t> stopped = 0;
};
Computed* computed = nullptr;

// A step of Compute with more CPU time than this did not compute for all of it.
constexpr std::int64_t kLongestStep = 1 * kMs;

// Uses `ns` of CPU time, and adds them to `sum` meanwhile. Inlined: it is the caller that computes.
[[gnu::always_inline]] inline void Compute(std::int64_t ns, std::atomic<std::int64_t>& sum) {
  const std::int64_t start = Now(CLOCK_THREAD_CPUTIME_ID), before = sum;
  for (std::int64_t used = 0; used < ns; sum = before + used) {
    // Some 50 us: most samples are of the function itself, so that they name it also before there
    // are unwind tables.
    volatile std::int64_t sink = used;
    for (int i = 0; i < 20'000; ++i) sink = sink * 3 + 1;
    const std::int64_t now = Now(CLOCK_THREAD_CPUTIME_ID) - start;
    if (now - used > kLongestStep) computed->stopped += now - used;
    used = now;
  }
}

// The parts of the path, by name.
std::map<std::string, std::int64_t> parts;

// Adds what grew from `begin` to `end`; nothing if the end of the wait came before its begin.
void AddPart(const char* name, std::int64_t begin, std::int64_t end) {
  parts[name] += std::max<std::int64_t>(0, end - begin);
}

template <class T>
T* Share() {
  void* const memory =
      mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  Require(memory != MAP_FAILED);
  return new (memory) T;
}

struct Pipe {
  Pipe() {
    int ends[2];
    Require(pipe2(ends, O_CLOEXEC) == 0);
    from = ends[0];
    to = ends[1];
  }
  int from = -1, to = -1;
};

template <class T>
bool Receive(int fd, T& message) {
  return read(fd, &message, sizeof message) == sizeof message;
}

template <class T>
void Send(int fd, const T& message) {
  Require(write(fd, &message, sizeof message) == sizeof message);
}

// Runs `work` in a child process, which ends with this one.
template <class Work>
void InChild(Work work) {
  const pid_t child = fork();
  Require(child >= 0);
  if (child != 0) return;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  work();
  std::_Exit(0);
}

// --- requests

constexpr std::int64_t kNap = 20 * kMs;

std::mutex mutex;
pthread_barrier_t is_held;
std::int64_t computed_at_unlock = 0;

// What the child did for a request.
struct Answer {
  std::int64_t slept_from = 0, computed = 0;
};

}  // namespace

extern "C" [[gnu::noinline]] void hold_lock() {
  const std::lock_guard lock(mutex);
  pthread_barrier_wait(&is_held);
  Compute(30 * kMs, computed->by_other);
  computed_at_unlock = computed->by_other;
}

extern "C" [[gnu::noinline]] void child_work(int to) {
  Answer answer{.slept_from = Now()};
  const timespec nap = {.tv_sec = 0, .tv_nsec = kNap};
  Require(nanosleep(&nap, nullptr) == 0);
  Compute(5 * kMs, computed->by_first);
  answer.computed = computed->by_first;
  Send(to, answer);
}

extern "C" [[gnu::noinline]] void wait_for_lock() {
  const std::int64_t begin = computed->by_other;
  mutex.lock();
  AddPart("hold_lock", begin, computed_at_unlock);
  mutex.unlock();
}

extern "C" [[gnu::noinline]] void ask_child(int to, int from) {
  Send(to, 'q');
  const std::int64_t computed_before = computed->by_first, begin = Now();
  Answer answer;
  Require(Receive(from, answer));
  AddPart("child_work", computed_before, answer.computed);
  AddPart("timer", std::max(begin, answer.slept_from), answer.slept_from + kNap);
}

extern "C" [[gnu::noinline]] void handle_request(int to, int from) {
  wait_for_lock();
  ask_child(to, from);
  Compute(10 * kMs, computed->by_main);
}

namespace {

void Requests() {
  const Pipe questions, answers;
  InChild([&] {
    close(questions.to);
    for (char question = 0; Receive(questions.from, question);) child_work(answers.to);
  });
  for (int request = 0; request < 20; ++request) {
    pthread_barrier_init(&is_held, nullptr, 2);
    std::thread worker(hold_lock);
    pthread_barrier_wait(&is_held);
    handle_request(questions.to, answers.from);
    worker.join();
  }
  parts["handle_request"] = computed->by_main;
}

// --- pipeline

constexpr int kItems = 30;

}  // namespace

extern "C" [[gnu::noinline]] void produce_item(int to) {
  Compute(2 * kMs, computed->by_first);
  Send(to, 'i');
}

extern "C" [[gnu::noinline]] void transform_item(int to) {
  Compute(10 * kMs, computed->by_other);
  Send(to, computed->by_other.load());
}

extern "C" [[gnu::noinline]] void consume_item() {
  Compute(2 * kMs, computed->by_main);
}

namespace {

void Pipeline() {
  const Pipe produced, transformed;
  InChild([&] {
    for (int item = 0; item < kItems; ++item) produce_item(produced.to);
  });
  InChild([&] {
    close(produced.to);
    for (char item = 0; Receive(produced.from, item);) transform_item(transformed.to);
  });
  close(produced.to);
  for (int item = 0; item < kItems; ++item) {
    const std::int64_t begin = computed->by_other;
    std::int64_t end = 0;
    Require(Receive(transformed.from, end));
    AddPart("transform_item", begin, end);
    consume_item();
  }
  parts["consume_item"] = computed->by_main;
}

// --- pool

// A pool with one job at a time.
struct Pool {
  std::mutex mutex;
  std::condition_variable has_job, has_result;
  int jobs = 0, results = 0;
  bool is_closed = false;
  std::int64_t computed_at_result = 0;
};

}  // namespace

extern "C" [[gnu::noinline]] void run_job() {
  Compute(15 * kMs, computed->by_other);
}

extern "C" [[gnu::noinline]] void use_result() {
  Compute(5 * kMs, computed->by_main);
}

namespace {

void Work(Pool& pool) {
  while (true) {
    {
      std::unique_lock lock(pool.mutex);
      pool.has_job.wait(lock, [&] { return pool.jobs > 0 || pool.is_closed; });
      if (pool.jobs == 0) return;
      --pool.jobs;
    }
    run_job();
    {
      const std::lock_guard lock(pool.mutex);
      ++pool.results;
      pool.computed_at_result = computed->by_other;
    }
    pool.has_result.notify_one();
  }
}

void RunPool() {
  Pool pool;
  std::vector<std::thread> workers;
  for (int worker = 0; worker < 2; ++worker) workers.emplace_back([&] { Work(pool); });
  for (int job = 0; job < 20; ++job) {
    {
      std::unique_lock lock(pool.mutex);
      ++pool.jobs;
      pool.has_job.notify_one();
      const std::int64_t begin = computed->by_other;
      pool.has_result.wait(lock, [&] { return pool.results > 0; });
      --pool.results;
      AddPart("run_job", begin, pool.computed_at_result);
    }
    use_result();
  }
  parts["use_result"] = computed->by_main;
  {
    const std::lock_guard lock(pool.mutex);
    pool.is_closed = true;
  }
  pool.has_job.notify_all();
  for (std::thread& worker : workers) worker.join();
}

// --- convoy

constexpr std::size_t kConvoy = 32;

}  // namespace

// Returns what all threads have computed when this one unlocks.
extern "C" [[gnu::noinline]] std::int64_t hold_mutex() {
  const std::lock_guard lock(mutex);
  Compute(5 * kMs, computed->by_other);
  return computed->by_other;
}

namespace {

void Convoy() {
  std::vector<std::thread> threads;
  std::vector<std::int64_t> ends(kConvoy);
  mutex.lock();
  for (std::int64_t& end : ends) threads.emplace_back([&end] { end = hold_mutex(); });
  const timespec until_all_wait = {.tv_sec = 0, .tv_nsec = kNap};
  nanosleep(&until_all_wait, nullptr);
  parts["timer"] = kNap;
  mutex.unlock();
  // The last one first: its wait leads through all others.
  for (std::size_t thread = kConvoy; thread-- > 0;) {
    const std::int64_t begin = computed->by_other;
    threads[thread].join();
    AddPart("hold_mutex", begin, ends[thread]);
  }
}

// --- disk

}  // namespace

extern "C" [[gnu::noinline]] void sync_block(int fd) {
  const std::int64_t begin = Now(), cpu_begin = Now(CLOCK_THREAD_CPUTIME_ID);
  Require(fsync(fd) == 0);
  const std::int64_t cpu = Now(CLOCK_THREAD_CPUTIME_ID) - cpu_begin;
  AddPart("sync_block", begin + cpu, Now());
}

namespace {

void Disk(const char* file) {
  const int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  Require(fd >= 0);
  const std::vector<char> block(4 << 20, 'x');
  for (int i = 0; i < 10; ++i) {
    Require(write(fd, block.data(), block.size()) == static_cast<ssize_t>(block.size()));
    sync_block(fd);
  }
  close(fd);
}

// --- futex

// Memory of both processes.
struct Shared {
  std::atomic<std::uint32_t> asked = 0, answered = 0;
  std::int64_t computed_at_answer = 0;
};

// Waits until `word` is not `old` any more.
void WaitForChange(std::atomic<std::uint32_t>& word, std::uint32_t old) {
  while (word == old) syscall(SYS_futex, &word, FUTEX_WAIT, old, nullptr, nullptr, 0);
}

void Change(std::atomic<std::uint32_t>& word) {
  ++word;
  syscall(SYS_futex, &word, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

}  // namespace

extern "C" [[gnu::noinline]] void compute_value(Shared& shared) {
  Compute(15 * kMs, computed->by_other);
  shared.computed_at_answer = computed->by_other;
  Change(shared.answered);
}

extern "C" [[gnu::noinline]] void use_value() {
  Compute(5 * kMs, computed->by_main);
}

namespace {

void Futex() {
  auto& shared = *Share<Shared>();
  constexpr std::uint32_t kRounds = 20;
  InChild([&] {
    for (std::uint32_t round = 0; round < kRounds; ++round) {
      WaitForChange(shared.asked, round);
      compute_value(shared);
    }
  });
  for (std::uint32_t round = 0; round < kRounds; ++round) {
    Change(shared.asked);
    const std::int64_t begin = computed->by_other;
    WaitForChange(shared.answered, round);
    AddPart("compute_value", begin, shared.computed_at_answer);
    use_value();
  }
  parts["use_value"] = computed->by_main;
}

// --- epoll

}  // namespace

extern "C" [[gnu::noinline]] void serve_request(int fd) {
  Compute(5 * kMs, computed->by_other);
  Send(fd, computed->by_other.load());
}

extern "C" [[gnu::noinline]] void use_answer() {
  Compute(3 * kMs, computed->by_main);
}

namespace {

sockaddr* Generic(sockaddr_in& address) {
  return reinterpret_cast<sockaddr*>(&address);
}

// Waits for the only socket of an epoll, and receives a message.
template <class T>
bool ReceiveByEpoll(int epoll, int fd, T& message) {
  epoll_event event{};
  Require(epoll_wait(epoll, &event, 1, -1) == 1);
  return Receive(fd, message);
}

int EpollOf(int fd) {
  const int one = 1;
  Require(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) == 0);
  const int epoll = epoll_create1(EPOLL_CLOEXEC);
  epoll_event event{.events = EPOLLIN, .data = {}};
  Require(epoll >= 0 && epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0);
  return epoll;
}

void Serve(int listening) {
  const int fd = accept(listening, nullptr, nullptr);
  Require(fd >= 0);
  const int epoll = EpollOf(fd);
  for (char question = 0; ReceiveByEpoll(epoll, fd, question);) serve_request(fd);
}

void Epoll() {
  const int listening = socket(AF_INET, SOCK_STREAM, 0), fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  Require(bind(listening, Generic(address), size) == 0 && listen(listening, 1) == 0);
  Require(getsockname(listening, Generic(address), &size) == 0);
  InChild([&] {
    close(fd);
    Serve(listening);
  });
  Require(connect(fd, Generic(address), size) == 0);
  const int epoll = EpollOf(fd);
  for (int request = 0; request < 30; ++request) {
    Send(fd, 'q');
    const std::int64_t begin = computed->by_other;
    std::int64_t end = 0;
    Require(ReceiveByEpoll(epoll, fd, end));
    AddPart("serve_request", begin, end);
    use_answer();
  }
  parts["use_answer"] = computed->by_main;
}

struct Program {
  std::string_view name;
  void (*run)(const char* file);
};
constexpr Program kPrograms[] = {
    {"requests", [](const char*) { Requests(); }},  {"pipeline", [](const char*) { Pipeline(); }},
    {"pool", [](const char*) { RunPool(); }},       {"convoy", [](const char*) { Convoy(); }},
    {"disk", [](const char* file) { Disk(file); }}, {"futex", [](const char*) { Futex(); }},
    {"epoll", [](const char*) { Epoll(); }}};

const Program* FindProgram(std::string_view name) {
  const auto* const found = std::ranges::find(kPrograms, name, &Program::name);
  return found == std::end(kPrograms) ? nullptr : found;
}

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t begin = Now();
  computed = Share<Computed>();
  const Program* const program = argc > 1 ? FindProgram(argv[1]) : nullptr;
  if (program == nullptr) {
    std::fputs("usage: known_path PROGRAM [FILE]\n", stderr);
    return 2;
  }
  program->run(argc > 2 ? argv[2] : "known_path.out");
  std::printf("{\"pid\": %d, \"window_ns\": %lld, \"stopped_ns\": %lld, \"parts\": {", getpid(),
              static_cast<long long>(Now() - begin),
              static_cast<long long>(computed->stopped.load()));
  const char* separator = "";
  for (const auto& [name, ns] : parts) {
    std::printf("%s\"%s\": %lld", separator, name.c_str(), static_cast<long long>(ns));
    separator = ", ";
  }
  std::puts("}}");
}
