// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/processes.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <exception>

namespace perftape::serve {

Result<pid_t> StartProcess(const char* name, Sigterm sigterm, const std::function<int()>& run) {
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) return FailErrno("starting a process", errno);
  if (pid != 0) return pid;
  (void)prctl(PR_SET_NAME, name);
  (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(EXIT_FAILURE);  // it has ended already
  // The first process decides about signals of the terminal.
  for (const int signal : {SIGINT, SIGHUP, SIGPIPE, SIGUSR1, SIGUSR2})
    (void)std::signal(signal, SIG_IGN);
  if (sigterm == Sigterm::kIsIgnored) (void)std::signal(SIGTERM, SIG_IGN);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  int status = EXIT_FAILURE;
  try {
    status = run();
  } catch (const std::exception&) {
    // Memory ran out: there is none for a message.
  }
  _exit(status);
}

}  // namespace perftape::serve
