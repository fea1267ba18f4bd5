"""How much memory LLVM keeps of compilations, without a line of ours: parse, optimise, emit, link, drop."""

import ctypes
import sys
from pathlib import Path

import llvmlite.binding as llvm

count, texts = int(sys.argv[1]), [path.read_text() for path in sorted(Path(sys.argv[2]).glob("*.ll"))]
llvm.initialize_all_targets()
llvm.initialize_all_asmprinters()
machine = llvm.Target.from_default_triple().create_target_machine(opt=2, reloc="pic", codemodel="default")
for number in range(count + 1):
    text = texts[number % len(texts)]
    with llvm.create_context() as context, llvm.parse_assembly(text, context=context) as module:
        with (
            llvm.create_pipeline_tuning_options(2) as options,
            llvm.create_pass_builder(machine, options) as builder,
            llvm.create_new_module_pass_manager() as passes,
        ):
            passes.add_simplify_cfg_pass()
            passes.run(module, builder)
        code = machine.emit_object(module)
    if number % 8 == 0:
        jit = llvm.create_lljit_compiler(use_jit_link=True, suppress_errors=True)
    linking = llvm.JITLibraryBuilder().add_object_img(code).add_current_process().export_symbol("kernel")
    linking.link(jit, f"library{number % 8}")["kernel"]
    if number in (count // 2, count):
        ctypes.CDLL(None).malloc_trim(0)
        resident, shared = map(int, Path("/proc/self/statm").read_text().split()[1:3])
        print((resident - shared) << 2, "KiB")
