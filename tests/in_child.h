// What a child of fork() does.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

namespace weft {

/// The exit status of a child that runs f() within ten seconds; -1 where it hangs or dies.
template <class F> int in_child(F f) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(10);
    try {
      ::_exit(f());
    } catch (...) {
      ::_exit(255);
    }
  }
  int status = 0;
  return ::waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace weft
