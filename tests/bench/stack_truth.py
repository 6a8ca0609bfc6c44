#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares what perftape-record claims of its call chains with the machine code of real programs, as a Markdown table.

    tests/bench/stack_truth.py --build build/release [--perf] [--seconds N] [--keep DIRECTORY] [PROGRAM...]

claimed  the "N % complete" of perftape-record's summary
whole    chains whose root is where the kernel, the C library or Go's runtime starts a thread (chain_truth.py)
false    chains with a caller that no call precedes
other    chains in which a direct call leads to another function than the callee

--perf also records `perf record -g`, and shows its whole chains. Needs root and python3-pyelftools. A program that is not
installed is left out, and named at the end with its Debian package.
"""
import argparse
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import chain_truth

BUSY_LOOP = {
    "php": "function f($n){return $n<2?$n:f($n-1)+f($n-2);} $end=microtime(true)+%d;"
           "while(microtime(true)<$end){f(20);}",
    "node": "const f=n=>n<2?n:f(n-1)+f(n-2);const end=Date.now()+1000*%d;while(Date.now()<end)f(22)",
    "ruby": "def f(n) n<2 ? n : f(n-1)+f(n-2) end; e=Time.now+%d; f(18) while Time.now<e",
    "perl": "sub f{my $n=shift;$n<2?$n:f($n-1)+f($n-2)} $e=time+%d; f(16) while time<$e",
    "python3": "import time\ndef f(n): return n if n<2 else f(n-1)+f(n-2)\ne=time.time()+%d\nwhile time.time()<e: f(16)",
    "lua": "local function f(n) if n<2 then return n end return f(n-1)+f(n-2) end "
           "local e=os.time()+%d while os.time()<e do f(20) end",
    "erl": "F=fun F(N) when N<2->N;F(N)->F(N-1)+F(N-2) end, E=erlang:monotonic_time(second)+%d,"
           "L=fun L()->lists:sort([rand:uniform()||_<-lists:seq(1,9999)]),F(16),"
           "case erlang:monotonic_time(second)<E of true->L();_->init:stop() end end,L().",
    "sbcl": "(progn (defun f (n) (if (< n 2) n (+ (f (- n 1)) (f (- n 2))))) (compile 'f)"
            "(let ((e (+ (get-universal-time) %d))) (loop while (< (get-universal-time) e) do (f 24))))",
}
SOURCES = {
    "Burn.java": """public class Burn {
  static long f(int n) { return n < 2 ? n : f(n - 1) + f(n - 2); }
  public static void main(String[] a) {
    long end = System.currentTimeMillis() + 1000L * Integer.parseInt(a[0]), sum = 0;
    while (System.currentTimeMillis() < end) { sum += f(25); sum += new StringBuilder(a[0].repeat(999)).reverse().length(); }
    System.out.println(sum);
  }
}
""",
    "burn.cs": """class Burn {
  static long F(int n) { return n < 2 ? n : F(n - 1) + F(n - 2); }
  static void Main(string[] a) {
    var end = System.DateTime.Now.AddSeconds(int.Parse(a[0]));
    while (System.DateTime.Now < end) F(25);
  }
}
""",
    "burn.hs": """import Data.List
import System.CPUTime
import System.Environment
main = do { [s] <- getArgs; loop (read s * 10^12) 1 }
loop :: Integer -> Int -> IO ()
loop end n = do { print (foldl' (+) 0 (sort [ (i * 7919) `mod` 100003 | i <- [n .. n + 200000] ]))
                ; now <- getCPUTime; if now < end then loop end (n + 1) else return () }
""",
    "burn.ml": """exception Found of int
let rec f n = if n < 2 then n else f (n - 1) + f (n - 2)
let g n = try raise (Found (f n)) with Found x -> x
let () = let e = Sys.time () +. float_of_string Sys.argv.(1) in while Sys.time () < e do ignore (g 22) done
""",
    "burn.rs": """use std::time::*;
fn f(n: u64) -> u64 { if n < 2 { n } else { f(n - 1) + f(n - 2) } }
fn main() {
    let seconds = std::env::args().nth(1).unwrap().parse().unwrap();
    let threads: Vec<_> = (0..2).map(|_| std::thread::spawn(move || {
        let start = Instant::now();
        let mut sum = 0;
        while start.elapsed() < Duration::from_secs(seconds) { sum += f(std::hint::black_box(22)); }
        sum
    })).collect();
    for t in threads { println!("{}", t.join().unwrap()); }
}
""",
    "burn.go": """package main
import ("os"; "sort"; "strconv"; "time")
func f(n int) int { if n < 2 { return n }; return f(n-1) + f(n-2) }
func work(end time.Time, done chan int) {
  sum := 0
  for time.Now().Before(end) {
    s := make([]string, 2000)
    for i := range s { s[i] = strconv.Itoa(i * 7919 % 1003) }
    sort.Strings(s)
    sum += f(18) + len(s)
  }
  done <- sum
}
func main() {
  n, _ := strconv.Atoi(os.Args[1])
  end, done := time.Now().Add(time.Duration(n)*time.Second), make(chan int)
  for i := 0; i < 4; i++ { go work(end, done) }
  for i := 0; i < 4; i++ { println(<-done) }
}
""",
    "cgo.go": """package main
/*
extern int burnInGo(int);
static int over_c(int n) { volatile int r = burnInGo(n); return r; }
*/
import "C"
import ("os"; "strconv"; "time")
//export burnInGo
func burnInGo(n C.int) C.int { if n < 2 { return n }; return burnInGo(n-1) + burnInGo(n-2) }
func main() {
  n, _ := strconv.Atoi(os.Args[1])
  for end := time.Now().Add(time.Duration(n)*time.Second); time.Now().Before(end); { C.over_c(18) }
}
""",
    "headers.cc": "".join(f"#include <{name}>\n" for name in "algorithm functional iostream map memory regex".split()) +
                  'int main() { std::regex r("a+b"); return std::regex_match("aab", r); }\n',
}
# What is recorded: name, Debian package, command; the seconds take the place of {s}.
COMMANDS = (
    ("php", "php-cli", ["php", "-r", "BUSY:php"]),
    ("php with JIT", "php-cli", ["php", "-d", "opcache.enable_cli=1", "-d", "opcache.jit_buffer_size=64M",
                                 "-d", "opcache.jit=tracing", "burn.php"]),
    ("node", "nodejs", ["node", "-e", "BUSY:node"]),
    ("java", "default-jdk-headless", ["java", "-Xshare:auto", "Burn", "{s}"]),
    ("java, frame pointers", "default-jdk-headless", ["java", "-XX:+PreserveFramePointer", "Burn", "{s}"]),
    ("ruby", "ruby", ["ruby", "-e", "BUSY:ruby"]),
    ("perl", "perl", ["perl", "-e", "BUSY:perl"]),
    ("python3", "python3", ["/usr/bin/python3", "-c", "BUSY:python3"]),
    ("lua", "lua5.4", ["lua5.4", "-e", "BUSY:lua"]),
    ("luajit", "luajit", ["luajit", "-e", "BUSY:lua"]),
    ("mono", "mono-mcs", ["mono", "burn.exe", "{s}"]),
    ("erlang", "erlang-base", ["erl", "-noshell", "-eval", "BUSY:erl"]),
    ("ghc", "ghc", ["./burn-hs", "{s}"]),
    ("ocaml", "ocaml-nox", ["./burn-ml", "{s}"]),
    ("sbcl", "sbcl", ["sbcl", "--noinform", "--non-interactive", "--eval", "BUSY:sbcl"]),
    ("go", "golang-go", ["./burn-go", "{s}"]),
    ("go, stripped", "golang-go", ["./burn-go-stripped", "{s}"]),
    ("cgo with callbacks", "golang-go", ["./burn-cgo", "{s}"]),
    ("rust", "rustc", ["./burn-rs", "{s}"]),
    ("sqlite", "sqlite3", ["sqlite3", ":memory:", "with recursive n(i) as (select 1 union all select i+1 from n where i<900000) "
                           "select count(distinct i*7919%100003), sum(length(hex(i))) from n"]),
    ("cc1plus", "g++", ["g++", "-O2", "-c", "headers.cc", "-o", "/dev/null"]),
    ("clang", "clang", ["clang++", "-O2", "-c", "headers.cc", "-o", "/dev/null"]),
    ("git", "git", ["git", "-C", "REPOSITORY", "log", "--stat", "-n", "300"]),
    ("gzip", "gzip", ["gzip", "-9", "-c", "numbers"]),
    ("xz", "xz-utils", ["xz", "-T2", "-c", "numbers"]),
    ("zstd", "zstd", ["zstd", "-q", "-19", "-T2", "-c", "numbers"]),
    ("ffmpeg x264", "ffmpeg", ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=1280x720:rate=30", "-t", "6",
                               "-c:v", "libx264", "-f", "null", "-"]),
    *((f"openssl {name}", "openssl", ["openssl", "speed", "-seconds", "{s}", *words])
      for name, words in (("AES-256-GCM", ["-bytes", "16384", "-evp", "aes-256-gcm"]),
                          ("AES-256-CTR", ["-bytes", "16384", "-evp", "aes-256-ctr"]),
                          ("AES-256-XTS", ["-bytes", "16384", "-evp", "aes-256-xts"]),
                          ("ChaCha20-Poly1305", ["-bytes", "16384", "-evp", "chacha20-poly1305"]),
                          ("ECDSA P-384", ["ecdsap384"]), ("RSA 2048", ["rsa2048"]))),
)
# Compiled before: command, what it makes.
BUILDS = ((["javac", "Burn.java"], "Burn.class"), (["mcs", "burn.cs"], "burn.exe"),
          (["ghc", "-O1", "burn.hs", "-o", "burn-hs"], "burn-hs"), (["ocamlopt", "burn.ml", "-o", "burn-ml"], "burn-ml"),
          (["rustc", "-O", "burn.rs", "-o", "burn-rs"], "burn-rs"), (["go", "build", "-o", "burn-go", "burn.go"], "burn-go"),
          (["go", "build", "-o", "burn-go-stripped.debug", "burn.go"], "burn-go-stripped.debug"),
          (["strip", "-o", "burn-go-stripped", "burn-go-stripped.debug"], "burn-go-stripped"),
          (["go", "build", "-o", "burn-cgo", "cgo.go"], "burn-cgo"))
CLAIMED = re.compile(r"user call chains: ([\d.]+) % complete")


def prepare(directory, seconds):
    for name, text in SOURCES.items():
        (directory / name).write_text(text)
    (directory / "burn.php").write_text("<?php " + BUSY_LOOP["php"] % seconds)
    (directory / "numbers").write_text("\n".join(str(i * 7919 % 1000003) for i in range(2_000_000)))
    environment = {**os.environ, "GOCACHE": str(directory / "go-cache"), "GOFLAGS": "-mod=mod", "GO111MODULE": "off"}
    for command, _ in BUILDS:
        if shutil.which(command[0]):
            subprocess.run(command, cwd=directory, env=environment, check=True, stdout=subprocess.DEVNULL)


def words_of(command, seconds):
    repository = str(Path(__file__).resolve().parents[2])
    words = [BUSY_LOOP[word[5:]] % seconds if word.startswith("BUSY:") else word for word in command]
    return [word.replace("{s}", str(seconds)).replace("REPOSITORY", repository) for word in words]


def is_there(words, directory):
    return all((directory / word).exists() for word in words if word in [made for _, made in BUILDS]) and (
        (directory / words[0]).exists() if words[0].startswith("./") else shutil.which(words[0]))


@contextlib.contextmanager
def server(command, directory, port):
    """Runs a server in the foreground until the block ends, once it answers on its port of this machine."""
    with subprocess.Popen(command, cwd=directory, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
        try:
            for _ in range(100):
                if subprocess.run(["bash", "-c", f"exec 3<>/dev/tcp/127.0.0.1/{port}"], stderr=subprocess.DEVNULL).returncode == 0:
                    break
                time.sleep(0.1)
            yield child.pid
        finally:
            child.send_signal(signal.SIGTERM)


def redis(directory):
    return (["redis-server", "--port", "16380", "--bind", "127.0.0.1", "--save", "", "--io-threads", "2"], 16380,
            ["redis-benchmark", "-p", "16380", "-q", "-t", "set,lpush,lrange", "-n", "100000000"])


def nginx_tls(directory):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "key.pem", "-out", "cert.pem",
                    "-days", "2", "-subj", "/CN=localhost"], cwd=directory, check=True, stderr=subprocess.DEVNULL)
    (directory / "file").write_bytes(os.urandom(1 << 20))
    (directory / "nginx.conf").write_text(
        f"daemon off; master_process off; pid {directory}/nginx.pid; error_log /dev/null; events {{}} http {{ access_log off;"
        f" server {{ listen 127.0.0.1:16443 ssl; ssl_certificate {directory}/cert.pem; ssl_certificate_key {directory}/key.pem;"
        f" root {directory}; }} }}")
    return (["nginx", "-c", f"{directory}/nginx.conf"], 16443,
            ["wrk", "-t", "1", "-c", "8", "-d", "100", "https://127.0.0.1:16443/file"])


# Name, Debian packages, programs, and what makes (server, port, load).
SERVERS = (("redis", "redis-server, redis-tools", ("redis-server", "redis-benchmark"), redis),
           ("nginx TLS", "nginx, wrk", ("nginx", "wrk"), nginx_tls))


class Recorder:
    def __init__(self, options, directory):
        self.record = str(Path(options.build).resolve() / "bin/perftape-record")
        self.directory, self.perf, self.rate = directory, options.perf, options.rate

    def claimed(self, output, words):
        """Records with perftape-record; returns the share that its summary calls complete, or None."""
        done = subprocess.run([self.record, "-F", str(self.rate), "--no-bundle", "-o", output, *words], cwd=self.directory,
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        found = CLAIMED.search(done.stderr)
        return float(found[1]) if found else None

    def row(self, name, words):
        output = self.directory / (re.sub(r"\W+", "-", name) + ".data")
        claimed = self.claimed(output, words)
        truth = chain_truth.verdict_of(output)
        cells = [name, f"{truth.chains:,}", "none" if claimed is None else f"{claimed:.1f}", f"{truth.whole_percent():.1f}",
                 str(truth.false), str(truth.other_calls)]
        if self.perf:
            other = output.with_suffix(".perf")
            words = ["--" if word == "--duration" else word for word in words]
            words = [*words[:-1], "sleep", words[-1]] if words[0] == "-p" else words
            subprocess.run(["perf", "record", "-q", "-g", "-e", "cpu-clock:u", "-F", str(self.rate), "-o", other, *words],
                           cwd=self.directory, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            cells.append(f"{chain_truth.verdict_of(other).whole_percent():.1f}")
        print("| " + " | ".join(cells) + " |", flush=True)


def record_all(recorder, options, directory):
    """Prints a row for each program; returns those that are not here, with their packages."""
    missing = []
    for name, package, command in COMMANDS:
        words = words_of(command, options.seconds)
        if options.programs and name not in options.programs:
            continue
        if is_there(words, directory):
            recorder.row(name, ["--", *words])
        else:
            missing.append(f"{name} ({package})")
    for name, package, programs, make in SERVERS:
        if options.programs and name not in options.programs:
            continue
        if not all(map(shutil.which, programs)):
            missing.append(f"{name} ({package})")
            continue
        serve, port, load = make(directory)
        with server(serve, directory, port) as pid, \
                subprocess.Popen(load, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as client:
            recorder.row(name, ["-p", str(pid), "--duration", str(options.seconds)])
            client.terminate()
    return missing


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("--perf", action="store_true")
    parser.add_argument("--rate", type=int, default=499)
    parser.add_argument("--seconds", type=int, default=3)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("programs", nargs="*", metavar="PROGRAM")
    options = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit("stack_truth.py needs root")
    with contextlib.ExitStack() as stack:
        directory = options.keep.resolve() if options.keep else Path(stack.enter_context(tempfile.TemporaryDirectory()))
        directory.mkdir(exist_ok=True)
        prepare(directory, options.seconds)
        print("| program | chains | claimed % | whole % | false | other calls |" + (" perf -g % |" if options.perf else ""))
        print("|---|---|---|---|---|---|" + ("---|" if options.perf else ""))
        missing = record_all(Recorder(options, directory), options, directory)
    if missing:
        print("\nNot installed: " + ", ".join(missing))


if __name__ == "__main__":
    main()
