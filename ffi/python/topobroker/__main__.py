"""`python -m topobroker bind -- train.py`: binds this process as a rank, and becomes the command."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import Optional, Union


def main(words: Optional[Sequence[str]] = None) -> int:
    """Runs the program."""
    parser = argparse.ArgumentParser(prog="python -m topobroker", description="The node's shared topology")
    commands = parser.add_subparsers(dest="command", required=True)
    bind = commands.add_parser(
        "bind",
        help="bind this rank to cores near its GPU, and become a command",
        description="Binds this process, a rank of torchrun, Slurm or MPI, to cores near its GPU and its memory "
        "there, sets the variables of the NIC near it, and becomes the command. A script of Python needs no "
        "python in front.",
        epilog="example: torchrun --nproc-per-node 4 --no-python python -m topobroker bind -- train.py",
    )
    bind.add_argument("--rank", type=int, help="rank on this node; by default the launcher's")
    bind.add_argument("--size", type=int, help="number of ranks on this node; by default the launcher's")
    bind.add_argument("--gpu", help="UUID of the GPU of this rank, or its number as this process sees it; none for no GPU")
    bind.add_argument("--gpus", help="GPUs of all ranks, with commas: then each knows what the others have")
    bind.add_argument(
        "--memory",
        choices=["auto", "bind", "interleave", "firsttouch", "none"],
        default="auto",
        help="where memory comes from: near the cores (auto: if the kernel lets it), from all these nodes in turn, "
        "or where it is first used; default: %(default)s",
    )
    bind.add_argument("--no-hyperthreads", action="store_true", help="one PU of each core")
    bind.add_argument("--no-nic-variables", action="store_true", help="set no variables of NICs")
    bind.add_argument("--gpu-variables", action="store_true", help="also set CUDA_VISIBLE_DEVICES and the like")
    bind.add_argument("--dry-run", action="store_true", help="say what would be done and why, and do nothing")
    bind.add_argument("--quiet", action="store_true", help="say nothing")
    bind.add_argument("words", nargs="*", metavar="command", help="the command and its arguments, behind --")
    given = list(sys.argv[1:] if words is None else words)
    # What is behind -- is the command's own.
    end = given.index("--") if "--" in given else len(given)
    options = parser.parse_args(given[:end])
    command: list[str] = [*options.words, *given[end + 1 :]]
    if not command and not options.dry_run:
        bind.error("which command? put it behind --")
    gpu: Union[int, str, None] = -1 if options.gpu == "none" else options.gpu

    from topobroker import TopobrokerError, bind_this_rank

    try:
        bind_this_rank(
            options.rank,
            options.size,
            gpu=gpu,
            gpus=options.gpus.split(",") if options.gpus else None,
            memory=None if options.memory == "none" else options.memory,
            hyperthreads=not options.no_hyperthreads,
            nic_variables=not options.no_nic_variables,
            gpu_variables=options.gpu_variables,
            dry_run=options.dry_run,
            quiet=options.quiet,
        )
    except (TopobrokerError, ValueError) as error:
        print(f"topobroker: {error}", file=sys.stderr)
        return 1
    if options.dry_run:
        return 0
    if command[0].endswith(".py"):
        command.insert(0, sys.executable)
    try:
        os.execvp(command[0], command)
    except OSError as error:
        print(f"topobroker: {command[0]}: {error.strerror}", file=sys.stderr)
        return 127 if isinstance(error, FileNotFoundError) else 126


if __name__ == "__main__":
    sys.exit(main())
