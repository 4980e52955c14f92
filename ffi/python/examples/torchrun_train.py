"""A worker of torchrun: bound to cores near its GPU before it makes threads.

torchrun --nproc-per-node 4 torchrun_train.py
"""

import topobroker

binding = topobroker.bind_this_rank()

import torch.distributed as dist  # noqa: E402

dist.init_process_group("nccl" if binding.gpu is not None else "gloo")
print(f"rank {dist.get_rank()}: PUs {topobroker.bound_cpus()}", flush=True)
dist.barrier()
dist.destroy_process_group()
