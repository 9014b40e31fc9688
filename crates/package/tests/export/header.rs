// SPDX-License-Identifier: Apache-2.0
//! The header: its text, which compilers take it, and what an entry point gets through it.

use crate::{function, norm, package, python, run};
use expect_test::expect;
use kernpack_package::export::header;
use kernpack_package::{Function, Package};
use kernpack_validators::param::{self, Exactly};
use kernpack_validators::{Literal, Signature};
use tempfile::TempDir;

/// The compilers and the standards that they hold the header to.
const COMPILERS: [[&str; 2]; 3] =
    [["gcc", "-std=c99"], ["g++", "-std=c++11"], ["g++", "-std=c++20"]];

/// A function of every kind of argument, with names that are words of C.
fn everything() -> Package {
    package(vec![
        function("nothing()"),
        function(
            "numbers(flag: bool, int: int8, big: uint64, half: bfloat16, wide: float64, \
             maybe: Optional[int16], ratio: Optional[float32], huge: Optional[uint64])",
        ),
        function(
            "views(x: Tensor([k], float32), y: Optional[Tensor([k], int8)], s: Shape([k, 2]), \
             t: Optional[Shape([1])], p: Pointer, q: Optional[Pointer], stream: Stream)",
        ),
        function(
            "tuples(a: Tuple(x: Tensor([k], float32), int32, new: Tuple(float32, 3)), \
             b: Optional[Tuple(float32, s: Optional[Shape([2])])], c: Tuple(), d: Tuple(3, True))",
        ),
        function("shapes(x: Tensor([*b], int8), s: Shape([*b]), t: Optional[Shape([2, *_])])"),
        function(
            r#"texts(mode: String, other: Optional[String], t: Tuple(String), u: "a?\"\\\n≤")"#,
        ),
        function("dtypes(out: DataType, a: Tensor([k], out)) where out in {float16, bfloat16}"),
        function("fixed(a: None, b: True, c: -9, d: 1e-06, e: Optional[3], message: int32)"),
        Function::new(Signature::new("least").param("a", Exactly(Literal::Int(i64::MIN)))),
        function("tuples_a(new_: Tuple(int32), kernpack_args: Tuple(int32), new: int64)"),
    ])
}

/// A folder with the header of a package, `norm.h`.
fn folder(package: &Package) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("norm.h"), header(package)).unwrap();
    folder
}

fn compile(folder: &TempDir, compiler: [&str; 2], source: &str, options: &[&str]) {
    let [program, standard] = compiler;
    let path = folder.path().join(if program == "gcc" { "use.c" } else { "use.cc" });
    std::fs::write(&path, source).unwrap();
    let program_path = folder.path().join("use");
    let paths = [&path, &program_path].map(|path| path.to_str().unwrap());
    let strict = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-O2"];
    let own = [standard, paths[0], "-o", paths[1]];
    run(program, &[&own[..], &strict, options].concat());
}

/// TVM-FFI's include folders, as options; it is installed where Python's tests are run.
fn tvm_ffi_options() -> Vec<String> {
    let script = "import tvm_ffi.libinfo as i; print(i.find_include_path()); print(i.find_dlpack_include_path())";
    let folders = run(python(), &["-c", script]);
    folders.lines().flat_map(|folder| ["-isystem".to_string(), folder.to_string()]).collect()
}

/// The part of a header about its own package.
fn functions(text: &str) -> &str {
    &text[text.find("\nint __tvm_ffi_").unwrap()..]
}

#[test]
fn a_header_documents_and_calls() {
    let text = header(&norm());
    expect![[r#"

        int __tvm_ffi_scale(void* handle, const kernpack_packed_any* args, int32_t num_args, kernpack_packed_any* result);

        /**
         * Multiplies by alpha.
         *
         * A comment ends with * /, a string with """.
         *
         * scale(x: Tensor([m, n], T, align=16, mut), alpha: float32 = 1.0, mask: Optional[Pointer] = None) where T in {float16, float32}, n % 8 == 0
         */
        static inline int norm_scale(
            const kernpack_tensor* x,
            float alpha,
            void* mask,
            char* message,
            size_t message_size) {
          kernpack_any kernpack_out = kernpack_none();
          kernpack_any kernpack_args[3];
          kernpack_args[0] = kernpack_view(x);
          kernpack_args[1] = kernpack_float(alpha);
          kernpack_args[2] = kernpack_none();
          if (mask) {
            kernpack_args[2] = kernpack_pointer(mask);
          }
          return kernpack_result(
              __tvm_ffi_scale(NULL, (const kernpack_packed_any*)kernpack_args, 3, (kernpack_packed_any*)&kernpack_out),
              message,
              message_size);
        }

        /**
         * rows(x: Tensor([m, n], float32)) -> y: Tensor([m], float32)
         *
         * Plain C calls `norm_rows_out`.
         */
        int __tvm_ffi_rows(void* handle, const kernpack_packed_any* args, int32_t num_args, kernpack_packed_any* result);

        int __tvm_ffi_rows_out(void* handle, const kernpack_packed_any* args, int32_t num_args, kernpack_packed_any* result);

        /**
         * rows_out(x: Tensor([m, n], float32), y: Tensor([m], float32, mut))
         */
        static inline int norm_rows_out(
            const kernpack_tensor* x,
            const kernpack_tensor* y,
            char* message,
            size_t message_size) {
          kernpack_any kernpack_out = kernpack_none();
          kernpack_any kernpack_args[2];
          kernpack_args[0] = kernpack_view(x);
          kernpack_args[1] = kernpack_view(y);
          return kernpack_result(
              __tvm_ffi_rows_out(NULL, (const kernpack_packed_any*)kernpack_args, 2, (kernpack_packed_any*)&kernpack_out),
              message,
              message_size);
        }

        #ifdef __cplusplus
        }
        #endif
        #endif
    "#]].assert_eq(functions(&text));
}

#[test]
fn every_kind_has_a_c_type() {
    let text = header(&everything());
    expect![[r#"

        int __tvm_ffi_nothing(void* handle, const kernpack_packed_any* args, int32_t num_args, kernpack_packed_any* result);

        /**
         * nothing()
         */
        static inline int norm_nothing(
            char* message,
            size_t message_size) {
          kernpack_any kernpack_out = kernpack_none();
          return kernpack_result(
              __tvm_ffi_nothing(NULL, NULL, 0, (kernpack_packed_any*)&kernpack_out),
              message,
              message_size);
        }

        int __tvm_ffi_numbers(void* handle, const kernpack_packed_any* args, int32_t num_args, kernpack_packed_any* result);

        /**
         * numbers(flag: bool, int: int8, big: uint64, half: bfloat16, wide: float64, maybe: Optional[int16], ratio: Optional[float32], huge: Optional[uint64])
         */
        static inline int norm_numbers(
            bool flag,
            int8_t int_,
            uint64_t big,
            float half,
            double wide,
            const int16_t* maybe,
            const float* ratio,
            const uint64_t* huge,
            char* message,
            size_t message_size) {
          kernpack_any kernpack_out = kernpack_none();
          kernpack_any kernpack_args[8];
          kernpack_big_int kernpack_0;
          kernpack_big_int kernpack_1;
          kernpack_args[0] = kernpack_bool(flag);
          kernpack_args[1] = kernpack_int(int_);
          kernpack_args[2] = kernpack_uint(&kernpack_0, big);
          kernpack_args[3] = kernpack_float(half);
          kernpack_args[4] = kernpack_float(wide);
          kernpack_args[5] = kernpack_none();
          if (maybe) {
            kernpack_args[5] = kernpack_int(*maybe);
          }
          kernpack_args[6] = kernpack_none();
          if (ratio) {
            kernpack_args[6] = kernpack_float(*ratio);
          }
          kernpack_args[7] = kernpack_none();
          if (huge) {
            kernpack_args[7] = kernpack_uint(&kernpack_1, *huge);
          }
          return kernpack_result(
              __tvm_ffi_numbers(NULL, (const kernpack_packed_any*)kernpack_args, 8, (kernpack_packed_any*)&kernpack_out),
              message,
              message_size);
        }

        int __tvm_ffi_views(void* handle, const kernpack_packed_any* args, int32_t num_args, kernpack_packed_any* result);

        /**
         * views(x: Tensor([k], float32), y: Optional[Tensor([k], int8)], s: Shape([k, 2]), t: Optional[Shape([1])], p: Pointer, q: Optional[Pointer], stream: Stream)
         */
        static inline int norm_views(
            const kernpack_tensor* x,
            const kernpack_tensor* y,
            const int64_t* s,
            const int64_t* t,
            void* p,
            void* q,
            void* stream,
            char* message,
            size_t message_size) {
          kernpack_any kernpack_out = kernpack_none();
          kernpack_any kernpack_args[7];
          kernpack_shape kernpack_0;
          kernpack_shape kernpack_1;
          kernpack_args[0] = kernpack_view(x);
          kernpack_args[1] = kernpack_view(y);
          kernpack_args[2] = kernpack_ints(&kernpack_0, s, 2);
          kernpack_args[3] = kernpack_ints(&kernpack_1, t, 1);
          kernpack_args[4] = kernpack_pointer(p);
          kernpack_args[5] = kernpack_none();
          if (q) {
            kernpack_args[5] = kernpack_pointer(q);
          }
          kernpack_args[6] = kernpack_pointer(stream);
          return kernpack_result(
              __tvm_ffi_views(NULL, (const kernpack_packed_any*)kernpack_args, 7, (kernpack_packed_any*)&kernpack_out),
              message,
              message_size);
        }

        int __tvm_ffi_tuples(void* handle, const kernpack_packed_any* args, int32_t num_args, kernpack_packed_any* result);

        struct norm_tuples_a_new_ {
          float _0;
        };

        struct norm_tuples_a {
          const kernpack_tensor* x;
          int32_t _1;
          const struct norm_tuples_a_new_* new_;
        };

        struct norm_tuples_b {
          float _0;
          const int64_t* s;
        };

        /**
         * tuples(a: Tuple(x: Tensor([k], float32), int32, new: Tuple(float32, 3)), b: Optional[Tuple(float32, s: Optional[Shape([2])])], c: Tuple(), d: Tuple(3, True))
         */
        static inline int norm_tuples(
            const struct norm_tuples_a* a,
            const struct norm_tuples_b* b,
            char* message,
            size_t message_size) {
          kernpack_any kernpack_out = kernpack_none();
          kernpack_any kernpack_args[4];
          kernpack_array kernpack_0;
          kernpack_any kernpack_1[3];
          kernpack_array kernpack_2;
          kernpack_any kernpack_3[2];
          kernpack_array kernpack_4;
          kernpack_any kernpack_5[2];
          kernpack_shape kernpack_6;
          kernpack_array kernpack_7;
          kernpack_array kernpack_8;
          kernpack_any kernpack_9[2];
          kernpack_args[0] = kernpack_none();
          if (a) {
            kernpack_1[0] = kernpack_view(a->x);
            kernpack_1[1] = kernpack_int(a->_1);
            kernpack_1[2] = kernpack_none();
            if (a->new_) {
              kernpack_3[0] = kernpack_float(a->new_->_0);
              kernpack_3[1] = kernpack_int(INT64_C(3));
              kernpack_1[2] = kernpack_values(&kernpack_2, kernpack_3, 2);
            }
            kernpack_args[0] = kernpack_values(&kernpack_0, kernpack_1, 3);
          }
          kernpack_args[1] = kernpack_none();
          if (b) {
            kernpack_5[0] = kernpack_float(b->_0);
            kernpack_5[1] = kernpack_ints(&kernpack_6, b->s, 1);
            kernpack_args[1] = kernpack_values(&kernpack_4, kernpack_5, 2);
          }
          kernpack_args[2] = kernpack_values(&kernpack_7, NULL, 0);
          kernpack_9[0] = kernpack_int(INT64_C(3));
          kernpack_9[1] = kernpack_bool(true);
          kernpack_args[3] = kernpack_values(&kernpack_8, kernpack_9, 2);
          return kernpack_result(
              __tvm_ffi_tuples(NULL, (const kernpack_packed_any*)kernpack_args, 4, (kernpack_packed_any*)&kernpack_out),
              message,
              message_size);
        }

        int __tvm_ffi_shapes(void* handle, const kernpack_packed_any* args, int32_t num_args, kernpack_packed_any* result);

        /**
         * shapes(x: Tensor([*b], int8), s: Shape([*b]), t: Optional[Shape([2, *_])])
         */
        static inline int norm_shapes(
            const kernpack_tensor* x,
            const kernpack_dims* s,
            const kernpack_dims* t,
            char* message,
            size_t message_size) {
          kernpack_any kernpack_out = kernpack_none();
          kernpack_any kernpack_args[3];
          kernpack_shape kernpack_0;
          kernpack_shape kernpack_1;
          kernpack_args[0] = kernpack_view(x);
          kernpack_args[1] = kernpack_any_ints(&kernpack_0, s);
          kernpack_args[2] = kernpack_any_ints(&kernpack_1, t);
          return kernpack_result(
              __tvm_ffi_shapes(NULL, (const kernpack_packed_any*)kernpack_args, 3, (kernpack_packed_any*)&kernpack_out),
              message,
              message_size);
        }

        int __tvm_ffi_texts(void* handle, const kernpack_packed_any* args, int32_t num_args, kernpack_packed_any* result);

        struct norm_texts_t {
          const char* _0;
        };

        /**
         * texts(mode: String, other: Optional[String], t: Tuple(String), u: "a?\"\\\n≤")
         */
        static inline int norm_texts(
            const char* mode,
            const char* other,
            const struct norm_texts_t* t,
            char* message,
            size_t message_size) {
          kernpack_any kernpack_out = kernpack_none();
          kernpack_any kernpack_args[4];
          kernpack_array kernpack_0;
          kernpack_any kernpack_1[1];
          kernpack_args[0] = kernpack_text(mode);
          kernpack_args[1] = kernpack_text(other);
          kernpack_args[2] = kernpack_none();
          if (t) {
            kernpack_1[0] = kernpack_text(t->_0);
            kernpack_args[2] = kernpack_values(&kernpack_0, kernpack_1, 1);
          }
          kernpack_args[3] = kernpack_text("a\?\"\\\n≤");
          return kernpack_result(
              __tvm_ffi_texts(NULL, (const kernpack_packed_any*)kernpack_args, 4, (kernpack_packed_any*)&kernpack_out),
              message,
              message_size);
        }

        int __tvm_ffi_dtypes(void* handle, const kernpack_packed_any* args, int32_t num_args, kernpack_packed_any* result);

        /**
         * dtypes(out: DataType, a: Tensor([k], out)) where out in {float16, bfloat16}
         */
        static inline int norm_dtypes(
            kernpack_dtype out,
            const kernpack_tensor* a,
            char* message,
            size_t message_size) {
          kernpack_any kernpack_out = kernpack_none();
          kernpack_any kernpack_args[2];
          kernpack_args[0] = kernpack_data_type(out.code, out.bits, out.lanes);
          kernpack_args[1] = kernpack_view(a);
          return kernpack_result(
              __tvm_ffi_dtypes(NULL, (const kernpack_packed_any*)kernpack_args, 2, (kernpack_packed_any*)&kernpack_out),
              message,
              message_size);
        }

        int __tvm_ffi_fixed(void* handle, const kernpack_packed_any* args, int32_t num_args, kernpack_packed_any* result);

        /**
         * fixed(a: None, b: True, c: -9, d: 1e-06, e: Optional[3], message: int32)
         */
        static inline int norm_fixed(
            bool e,
            int32_t message_,
            char* message,
            size_t message_size) {
          kernpack_any kernpack_out = kernpack_none();
          kernpack_any kernpack_args[6];
          kernpack_args[0] = kernpack_none();
          kernpack_args[1] = kernpack_bool(true);
          kernpack_args[2] = kernpack_int(INT64_C(-9));
          kernpack_args[3] = kernpack_float(1e-06);
          kernpack_args[4] = kernpack_none();
          if (e) {
            kernpack_args[4] = kernpack_int(INT64_C(3));
          }
          kernpack_args[5] = kernpack_int(message_);
          return kernpack_result(
              __tvm_ffi_fixed(NULL, (const kernpack_packed_any*)kernpack_args, 6, (kernpack_packed_any*)&kernpack_out),
              message,
              message_size);
        }

        int __tvm_ffi_least(void* handle, const kernpack_packed_any* args, int32_t num_args, kernpack_packed_any* result);

        /**
         * least(a: -9223372036854775808)
         */
        static inline int norm_least(
            char* message,
            size_t message_size) {
          kernpack_any kernpack_out = kernpack_none();
          kernpack_any kernpack_args[1];
          kernpack_args[0] = kernpack_int(-INT64_MAX - 1);
          return kernpack_result(
              __tvm_ffi_least(NULL, (const kernpack_packed_any*)kernpack_args, 1, (kernpack_packed_any*)&kernpack_out),
              message,
              message_size);
        }

        int __tvm_ffi_tuples_a(void* handle, const kernpack_packed_any* args, int32_t num_args, kernpack_packed_any* result);

        struct norm_tuples_a_new__ {
          int32_t _0;
        };

        struct norm_tuples_a_kernpack_args_ {
          int32_t _0;
        };

        /**
         * tuples_a(new_: Tuple(int32), kernpack_args: Tuple(int32), new: int64)
         */
        static inline int norm_tuples_a(
            const struct norm_tuples_a_new__* new_,
            const struct norm_tuples_a_kernpack_args_* kernpack_args_,
            int64_t new__,
            char* message,
            size_t message_size) {
          kernpack_any kernpack_out = kernpack_none();
          kernpack_any kernpack_args[3];
          kernpack_array kernpack_0;
          kernpack_any kernpack_1[1];
          kernpack_array kernpack_2;
          kernpack_any kernpack_3[1];
          kernpack_args[0] = kernpack_none();
          if (new_) {
            kernpack_1[0] = kernpack_int(new_->_0);
            kernpack_args[0] = kernpack_values(&kernpack_0, kernpack_1, 1);
          }
          kernpack_args[1] = kernpack_none();
          if (kernpack_args_) {
            kernpack_3[0] = kernpack_int(kernpack_args_->_0);
            kernpack_args[1] = kernpack_values(&kernpack_2, kernpack_3, 1);
          }
          kernpack_args[2] = kernpack_int(new__);
          return kernpack_result(
              __tvm_ffi_tuples_a(NULL, (const kernpack_packed_any*)kernpack_args, 3, (kernpack_packed_any*)&kernpack_out),
              message,
              message_size);
        }

        #ifdef __cplusplus
        }
        #endif
        #endif
    "#]].assert_eq(functions(&text));
}

#[test]
fn strict_compilers_take_it_alone() {
    for package in [norm(), everything(), package(vec![])] {
        let folder = folder(&package);
        for compiler in COMPILERS {
            compile(&folder, compiler, "#include \"norm.h\"\n#include \"norm.h\"\n", &["-c"]);
        }
    }
}

/// Every kind by its samples, each a parameter and, where it can be one, an element of a tuple.
#[test]
fn strict_compilers_take_every_kind() {
    let of_sample = |(i, sample): (usize, &&str)| {
        let rule = match *sample {
            "DataType" => " where x in {float32}",
            _ if sample.contains(" T,") => " where T in {float32}",
            _ => "",
        };
        let text = |more: &str| format!("f{i}(x: {sample}{more}){rule}");
        let in_tuple = text(&format!(", y: Tuple({sample}, z: {sample})"));
        let is_element = in_tuple.parse::<Signature>().is_ok();
        function(&if is_element { in_tuple } else { text("") })
    };
    let package = package(param::samples().iter().enumerate().map(of_sample).collect());
    let folder = folder(&package);
    for compiler in COMPILERS {
        compile(&folder, compiler, "#include \"norm.h\"\n", &["-c"]);
    }
}

#[test]
fn it_goes_with_tvm_ffis_own_header_in_both_orders() {
    let folder = folder(&everything());
    let options = tvm_ffi_options();
    let options = ["-c"].into_iter().chain(options.iter().map(String::as_str)).collect::<Vec<_>>();
    let (ours, theirs) = ("#include \"norm.h\"\n", "#include <tvm/ffi/c_api.h>\n");
    let uses = "TVMFFISafeCallType packed(void) { return __tvm_ffi_nothing; }\n\
                #ifdef __cplusplus\nextern \"C\"\n#endif\n\
                int __tvm_ffi_nothing(void*, const TVMFFIAny*, int32_t, TVMFFIAny*);\n";
    for compiler in COMPILERS {
        let proto = "TVMFFISafeCallType packed(void);\n";
        for includes in [[ours, theirs], [theirs, ours]] {
            compile(&folder, compiler, &(includes.concat() + proto + uses), &options);
        }
    }
}

#[test]
fn cpp_calls_entry_points_through_tvm_ffi() {
    let folder = folder(&everything());
    let options = tvm_ffi_options();
    let options = ["-c"].into_iter().chain(options.iter().map(String::as_str)).collect::<Vec<_>>();
    let (ours, theirs) = ("#include \"norm.h\"\n", "#include <tvm/ffi/function.h>\n");
    let uses = "tvm::ffi::Any call() { return tvm::ffi::Function::InvokeExternC(nullptr, __tvm_ffi_nothing); }\n";
    for includes in [[ours, theirs], [theirs, ours]] {
        compile(&folder, ["g++", "-std=c++17"], &(includes.concat() + uses), &options);
    }
}

#[test]
fn headers_of_several_packages_go_together() {
    let folder = folder(&norm());
    let other = Package { name: "Norm".to_string(), ..everything() };
    std::fs::write(folder.path().join("other.h"), header(&other)).unwrap();
    for compiler in COMPILERS {
        compile(&folder, compiler, "#include \"norm.h\"\n#include \"other.h\"\n", &["-c"]);
    }
}

#[test]
fn entry_points_get_what_callers_pass() {
    let folder = folder(&everything());
    let printed = COMPILERS.map(|compiler| {
        compile(&folder, compiler, include_str!("calls.c"), &[]);
        run(folder.path().join("use"), &[])
    });
    assert!(printed.iter().all(|text| *text == printed[0]), "{printed:#?}");
    expect![[r#"
        numbers(True, -8, 3, 1.5, 2.5, -7, 0.5, BigInt(2 words, 18446744073709551615, 0))
        numbers(False, 8, BigInt(2 words, 9223372036854775808, 0), 1.5, 2.5, None, None, None)
        views(Tensor(ndim=1), Tensor(ndim=1), Shape(5, 2), Shape(5), void*(16), void*(32), void*(2))
        views(None, None, None, None, void*(0), None, void*(0))
        shapes(Tensor(ndim=1), Shape(5, 2), Shape(5, 2))
        shapes(Tensor(ndim=1), Shape(), None)
        tuples([Tensor(ndim=1), 4, [0.25, 3]], [0.75, Shape(5)], [], [3, True])
        tuples([Tensor(ndim=1), 4, [0.25, 3]], [0.75, None], [], [3, True])
        tuples([Tensor(ndim=1), 4, None], None, [], [3, True])
        tuples(None, None, [], [3, True])
        texts("relu", "gelu", ["in a tuple"], "a?"\
        ≤")
        texts("", None, None, "a?"\
        ≤")
        dtypes(dtype(0x11004), Tensor(ndim=1))
        fixed(None, True, -9, 1e-06, 3, 9)
        fixed(None, True, -9, 1e-06, None, 9)
        least(-9223372036854775808)
        -1 of 64: RuntimeError: the call failed without an error
        -1 of 64: ValueError: é costs €5
        -1 of 27: ValueError: é costs €5
        -1 of 26: ValueError: é costs €5
        -1 of 25: ValueError: é costs €
        -1 of 24: ValueError: é costs 
        -1 of 23: ValueError: é costs 
        -1 of 22: ValueError: é costs 
        -1 of 14: ValueError: 
        -1 of 13: ValueError: 
        -1 of 12: ValueError:
        -1 of 5: Valu
        -1 of 1: 
        -1 of 0: ###############################################################
        released 13
    "#]]
    .assert_eq(&printed[0]);
}
