"""What of PyTorch's documented names is missing here is said, name by name: in docs/compatibility.md, or for Tensor's methods below."""

import re
from pathlib import Path

from .surface import missing

PAGE = (Path(__file__).parents[2] / "docs/compatibility.md").read_text(encoding="utf-8")
LIMITS = PAGE.split("## Every missing name")[1].split("\n## ")[0]
# Methods of Tensor: for what minigrad has not (sparse, quantised and complex tensors, other devices), and the functions that LIMITS names.
METHODS = """
    angle apply_ as_strided_scatter as_subclass bfloat16
    cdouble cfloat chalf cholesky coalesce col_indices conj_physical_ const_data_ptr crow_indices
    dense_dim dequantize dim_order erfinv erfinv_ frexp geqrf hardshrink
    i0 i0_ igamma igamma_ igammac igammac_ index index_reduce_ indices int_repr ipu is_coalesced is_ipu is_pinned is_set_to
    is_shared is_sparse_csr is_xla is_xpu isreal istft lu lu_solve map_ matrix_exp
    module_load mtia mvlgamma mvlgamma_ narrow_copy nonzero_static orgqr ormqr pin_memory
    q_per_channel_axis q_per_channel_scales q_per_channel_zero_points q_scale q_zero_point qr qscheme record_stream
    share_memory_ smm sparse_dim sparse_mask sparse_resize_ sparse_resize_and_clear_ sspaddmm stft storage_type svd to_dense to_mkldnn
    to_padded_tensor to_sparse to_sparse_bsc to_sparse_bsr to_sparse_coo to_sparse_csc to_sparse_csr triangular_solve values xpu
""".split()

# Functions of torch itself: for what minigrad has not, as above, and the switches of other devices and of PyTorch's C++ side.
FUNCTIONS = """
    Event Stream are_deterministic_algorithms_enabled as_strided_scatter col_indices_copy complex cond crow_indices_copy dequantize
    empty_permuted erfinv fake_quantize_per_channel_affine fake_quantize_per_tensor_affine frexp from_file geqrf
    get_deterministic_debug_mode get_num_interop_threads hash_tensor histogramdd hspmm
    i0 igamma igammac index_reduce indices_copy is_deterministic_algorithms_warn_only_enabled is_storage is_warn_always_enabled lobpcg
    lu_solve lu_unpack matrix_exp mvlgamma nonzero_static orgqr ormqr poisson polar quantize_per_channel quantize_per_tensor
    quantize_per_tensor_dynamic quantized_batch_norm quantized_max_pool1d quantized_max_pool2d segment_reduce set_default_device
    set_default_tensor_type set_deterministic_debug_mode set_flush_denormal set_num_interop_threads
    set_warn_always slice_copy smm sparse_bsc_tensor sparse_bsr_tensor sparse_compressed_tensor sparse_coo_tensor sparse_csc_tensor
    sparse_csr_tensor sspaddmm stft sym_float sym_int sym_ite sym_max sym_min sym_not sym_sum thread_safe_generator triangular_solve
    values_copy view_as_complex view_as_complex_copy view_as_real view_as_real_copy
""".split()


def test_every_missing_name_is_in_docs_compatibility():
    named = set(re.findall(r"`([A-Za-z_0-9.]+)`", LIMITS))
    unnamed = {
        path: [n for n in names if n not in named]
        for path, names in missing().items()
        if path not in ("Tensor", "torch")
    }
    assert not {path: names for path, names in unnamed.items() if names}


def test_the_missing_methods_of_tensor_are_these():
    assert missing()["Tensor"] == METHODS


def test_the_missing_functions_of_torch_are_these():
    assert missing()["torch"] == FUNCTIONS
