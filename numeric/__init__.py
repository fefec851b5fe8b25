"""Arrays and compiled code, the lowest package: nothing here knows poker.

`arrays` names the array types. `jit` compiles kernels (`kernel`, `parallel_kernel`) and `kernel_cache` stores
them. `simd`, `prefetch`, `threads`, `draws` and `xorshift` are building blocks of kernels. `table_file`
stores arrays in files, `folders` locates Fathom's folders, `two_layers` trains small neural nets, and
`cpu_affinity` keeps threads on separate processors.

Imports nothing of Fathom.
"""
