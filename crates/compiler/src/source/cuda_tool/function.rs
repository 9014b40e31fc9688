// SPDX-License-Identifier: Apache-2.0
//! The functions of a C library, declared by whoever calls them.

/// Declares the functions that are used as fields of `Functions`, and loads them all.
///
/// ```text
/// functions! {
///     "it is no NVRTC of CUDA 11.2 or later";      what a library without one of them is not
///     [("", "")];                                  what may stand around names
///     version: "nvrtcVersion" = unsafe extern "C" fn(*mut c_int, *mut c_int) -> c_int,
/// }
/// ```
///
/// Of the names that a function may have, the first that the library has is taken. The types must
/// be those of the library's header.
macro_rules! functions {
    ($needed:literal; $around:expr; $($field:ident: $name:literal = $type:ty,)*) => {
        /// The functions that are used.
        #[derive(Clone, Copy, Debug)]
        pub(super) struct Functions { $($field: $type,)* }

        impl Functions {
            fn load(library: &libloading::Library) -> Result<Functions, String> {
                let around = $around;
                Ok(Functions {
                    $($field: {
                        let mut names = around.iter().map(|(start, end)| format!("{start}{}{end}\0", $name));
                        let found = names.find_map(|name| {
                            // SAFETY: the type is that of the library's header.
                            let found = unsafe { library.get::<$type>(name.as_bytes()) };
                            found.ok().map(|function| *function)
                        });
                        found.ok_or_else(|| concat!("has no ", $name, ": ", $needed).to_string())?
                    },)*
                })
            }

            /// Loads the library from a path, or by the loader's rules from a bare name. It stays
            /// loaded for the rest of the process.
            pub(super) fn open(file: &std::ffi::OsStr) -> Result<Functions, String> {
                let library = super::super::cuda_tool::keep_loaded(file)?;
                let functions = Functions::load(&library)?;
                // From here on the functions may be called at any time.
                std::mem::forget(library);
                Ok(functions)
            }
        }
    };
}
