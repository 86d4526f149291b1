"""What every Python peer shares: its arguments, the timing of steps, and the JSON line that bench:compare reads.

The same procedure as in bench/steps.cc: five steps unmeasured, whose first and last loss are printed, then steps for
some seconds and at least five; memory is the most that was resident while steps ran, above what was resident just
before the first.
"""

import argparse
import json
import os
import resource
import time


def arguments(modes):
    """--model, --mode, --seconds, --threads. Limits this process to as many cores as it may use threads."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", choices=["mlp", "cnn", "resnet18", "resnet18_224", "gpt"], default="mlp")
    parser.add_argument("--mode", choices=modes, default=modes[0])
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    return parser.parse_args()


def status_bytes(name):
    with open("/proc/self/status") as status:
        for line in status:
            if line.startswith(name + ":"):
                return 1024 * int(line.split()[1])
    return 0


def cpu_seconds():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def report(system, options, step, compiled_before=False):
    """Measures `step`, which gives its loss and must not return before its work is done, and prints the line.

    Where `step` already ran, to be compiled, memory is not told: what was resident before it is not known any more.
    """
    try:
        with open("/proc/self/clear_refs", "w") as refs:
            refs.write("5")
    except OSError:
        pass
    before = status_bytes("VmRSS")
    losses = [float(step()) for _ in range(5)]
    times = []
    cpu = cpu_seconds()
    start = now = time.perf_counter()
    while now < start + options.seconds or len(times) < 5:
        step()
        end = time.perf_counter()
        times.append(1e3 * (end - now))
        now = end
    wall, cpu = time.perf_counter() - start, cpu_seconds() - cpu
    times.sort()

    def at(share):
        return times[int(share * (len(times) - 1))]

    print(
        json.dumps(
            {
                "system": system,
                "mode": options.mode,
                "model": options.model,
                "threads": options.threads,
                "median_ms": round(at(0.5), 4),
                "mean_ms": round(1e3 * wall / len(times), 4),
                "min_ms": round(times[0], 4),
                "p10_ms": round(at(0.1), 4),
                "p90_ms": round(at(0.9), 4),
                "cpu_ms": round(1e3 * cpu / len(times), 4),
                "memory_mb": -1 if compiled_before else round((status_bytes("VmHWM") - before) / 1e6, 1),
                "steps": len(times),
                "losses": [round(losses[0], 4), round(losses[4], 4)],
            }
        )
    )
