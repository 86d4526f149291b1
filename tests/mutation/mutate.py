#!/usr/bin/env python3
"""Breaks each gradient rule and asks whether the case table notices.

  python3 tests/mutation/mutate.py WORK [--threads 2]

Copies the sources at HEAD to the folder WORK, writes every mutant of autograd/rules/ into them (mutant.h: one program
holds them all, the environment chooses one), builds tests/ops there, finds which cases' gradient check reaches which
mutant, and runs those cases with each mutant until one fails. Prints a table by file and each mutant that no case
kills. Takes about half an hour on 2 cores; not part of the suite, which it judges.
"""
import argparse
import collections
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys

# Gradients against differences; values, which those of conventions (ties, kinks, zeros) are written as.
CHECKS = ["HasTrueGradients", "EqualsTheReferenceInEveryDtype"]
SIGNS = {"+": ("Plus", "a - b", "b left out"), "-": ("Minus", "a + b", "b left out"),
         "*": ("Times", "a / b", "b left out"), "/": ("Over", "a * b", "b left out")}
BINARY = re.compile(r"(?<=[\w\)\]]) ([-+*/])(?=\s+[-\w\(])")
NEGATIVE = re.compile(r"(?:(?<=[(,={?:] )|(?<=[({])|(?<=return ))-(?=[a-z(])")
TRANSPOSED = re.compile(r"\.t\(\)")
NUMBER = re.compile(r"(?<![\w.])\d+\.\d+(?![\w.])")
RETURN = re.compile(r"return ([^;]+);")


class Mutants:
    def __init__(self):
        self.list = []  # (file, line, what)

    def add(self, place, *kinds):
        first = len(self.list)
        self.list += [place + (kind,) for kind in kinds]
        return first


def skip(line):
    """Lines whose change says nothing about a formula, or that are no code."""
    return re.match(r"\s*(//|#|for \(|template <|static_assert)", line) is not None or "constexpr int" in line


def mutate(text, name, mutants):
    """`text` with every mutant in it."""
    edits = []  # (begin, end, new text)
    begin_of_line = 0
    line_of = []
    skipped = set()
    for number, line in enumerate(text.split("\n"), 1):
        code = line.split("//")[0]
        if skip(line):
            skipped.add(number)
        line_of.append((begin_of_line, begin_of_line + len(code), number))
        begin_of_line += len(line) + 1

    def place(at):
        for begin, end, number in line_of:
            if begin <= at < end:
                return None if number in skipped else number
        return None

    for match in BINARY.finditer(text):
        line = place(match.start(1))
        sign = match.group(1)
        if line:
            kind, flipped, dropped = SIGNS[sign]
            n = mutants.add((name, line), f"{sign}: {flipped}", f"{sign}: {dropped}")
            edits.append((match.start(1), match.end(1), f"{sign} ::weft::mutant::{kind}({n}) {sign}"))
    for match in NEGATIVE.finditer(text):
        line = place(match.start())
        if line:
            n = mutants.add((name, line), "-x: x")
            edits.append((match.start(), match.end(), f"::weft::mutant::Negative({n}) * "))
    for match in TRANSPOSED.finditer(text):
        line = place(match.start())
        if line:
            n = mutants.add((name, line), "x.t(): x")
            edits.append((match.end(), match.end(), f" ->* ::weft::mutant::Transposed({n})"))
    for match in re.finditer(r"(?<![\w.:])transpose\(", text):
        line, depth, end = place(match.start()), 1, match.end()
        while depth:
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        if line:
            n = mutants.add((name, line), "transpose(x): x")
            edits.append((end, end, f" ->* ::weft::mutant::Transposed({n})"))
    for match in NUMBER.finditer(text):
        line = place(match.start())
        if line:
            n = mutants.add((name, line), f"{match.group()}: another number")
            edits.append((match.start(), match.end(), f"::weft::mutant::number({n}, {match.group()})"))
    if name.endswith(".h"):
        for match in RETURN.finditer(text):
            line, value = place(match.start()), match.group(1)
            if line and value.count("(") == value.count(")") and value.count("{") == value.count("}") and value != "{}":
                list_of = "::weft::mutant::List" if value.startswith("{") else ""
                n = mutants.add((name, line), *[f"gradient {i}: another sign" for i in range(8)])
                edits.append((match.start(1), match.start(1), f"::weft::mutant::result({n}, {list_of}"))
                edits.append((match.end(1), match.end(1), ")"))
    for begin, end, new in sorted(edits, key=lambda e: (e[0], e[1]), reverse=True):
        text = text[:begin] + new + text[end:]
    return text.replace("\nnamespace weft", '\n#include "tests/mutation/mutant.h"\n\nnamespace weft', 1)


def prepare(work):
    work.mkdir(parents=True, exist_ok=True)
    archive = subprocess.run(["git", "archive", "HEAD"], check=True, stdout=subprocess.PIPE).stdout
    subprocess.run(["tar", "-x", "-C", str(work)], input=archive, check=True)
    shutil.copytree(pathlib.Path(__file__).parent, work / "tests/mutation", dirs_exist_ok=True)
    if os.path.exists("user.bazelrc"):
        shutil.copy("user.bazelrc", work)
    mutants = Mutants()
    for path in sorted((work / "autograd/rules").iterdir()):
        path.write_text(mutate(path.read_text(), path.name, mutants))
    build = work / "autograd/BUILD"  # the rules may include the header of the mutants here, and here alone
    build.write_text(build.read_text().replace('[":rules_all.h"]', '[":rules_all.h", "//tests/mutation:mutant.h"]'))
    return mutants.list


def run(program, cases, seconds, **environment):
    command = [str(program), "--gtest_fail_fast", "--gtest_brief=1", "--gtest_filter=" + ":".join(cases)]
    env = dict(os.environ, OMP_NUM_THREADS="1", **environment)
    try:
        return subprocess.run(command, env=env, timeout=seconds, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--program", type=pathlib.Path, help="tests/ops, built from the mutated sources before")
    options = parser.parse_args()
    work = options.work.resolve()
    mutants = prepare(work)
    program = options.program or work / "bazel-bin/tests/ops/ops_test"
    if not options.program and subprocess.run(["./bazelw", "build", "//tests/ops:ops_test"], cwd=work).returncode:
        sys.exit("the mutated sources do not build")
    listing = subprocess.run([program, "--gtest_list_tests"], check=True, stdout=subprocess.PIPE, text=True).stdout
    cases, suite = [], ""
    for line in listing.splitlines():
        if not line.startswith(" "):
            suite = line.split()[0]
        elif line.strip().split("/")[0] in CHECKS:
            cases.append(suite + line.split("#")[0].strip())
    cases.sort(key=lambda case: CHECKS.index(case.split(".")[1].split("/")[0]))  # the check of gradients first

    with concurrent.futures.ThreadPoolExecutor(options.threads) as pool:
        def reach(case):
            file = work / f"reached.{abs(hash(case))}"
            passed = run(program, [case], 300, WEFT_MUTANTS_REACHED=str(file))
            numbers = [int(n) for n in file.read_text().split()] if file.exists() else []
            file.unlink(missing_ok=True)
            return case, passed, numbers

        by_mutant = collections.defaultdict(list)
        for case, passed, numbers in pool.map(reach, cases):
            if not passed:
                sys.exit(f"{case} fails without a mutant")
            for n in numbers:
                by_mutant[n].append(case)

        def kill(n):
            return n, not run(program, by_mutant[n], 300, WEFT_MUTANT=str(n))

        killed = dict(pool.map(kill, sorted(by_mutant)))

    table = collections.defaultdict(lambda: [0, 0, 0])
    for n, (file, line, what) in enumerate(mutants):
        if "gradient" in what and n not in by_mutant:
            continue  # a number kept for a gradient that the rule does not have
        row = table[file]
        row[0] += 1
        row[1] += killed.get(n, False)
        row[2] += n not in by_mutant
        if not killed.get(n):
            state = "not reached" if n not in by_mutant else "alive"
            print(f"{state}: autograd/rules/{file}:{line}: {what}  (mutant {n})")
    print(f"\n| {'rules':30} | mutants | killed | not reached |\n|---|---|---|---|")
    for file, (count, dead, missed) in sorted(table.items()):
        print(f"| {file:30} | {count} | {dead} | {missed} |")
    total = [sum(row[i] for row in table.values()) for i in range(3)]
    print(f"| all | {total[0]} | {total[1]} | {total[2]} |")


if __name__ == "__main__":
    main()
