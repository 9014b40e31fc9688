// SPDX-License-Identifier: Apache-2.0
//! What the CUDA runtime calls the errors of the driver: the names that its users know, from `driver_types.h` of CUDA 13.0.

use core::ffi::c_char;

use super::driver::Status;

macro_rules! names {
    ($($number:literal $name:ident;)*) => {
        /// The numbers, in the order of [`NAMES`].
        const NUMBERS: &[u16] = &[$($number),*];
        /// The names, each with the NUL that ends it.
        const NAMES: &[u8] = concat!($(stringify!($name), "\0"),*).as_bytes();
    };
}

names! {
    1 cudaErrorInvalidValue;
    2 cudaErrorMemoryAllocation;
    3 cudaErrorInitializationError;
    4 cudaErrorCudartUnloading;
    5 cudaErrorProfilerDisabled;
    6 cudaErrorProfilerNotInitialized;
    7 cudaErrorProfilerAlreadyStarted;
    8 cudaErrorProfilerAlreadyStopped;
    34 cudaErrorStubLibrary;
    36 cudaErrorCallRequiresNewerDriver;
    46 cudaErrorDevicesUnavailable;
    100 cudaErrorNoDevice;
    101 cudaErrorInvalidDevice;
    102 cudaErrorDeviceNotLicensed;
    200 cudaErrorInvalidKernelImage;
    201 cudaErrorDeviceUninitialized;
    205 cudaErrorMapBufferObjectFailed;
    206 cudaErrorUnmapBufferObjectFailed;
    207 cudaErrorArrayIsMapped;
    208 cudaErrorAlreadyMapped;
    209 cudaErrorNoKernelImageForDevice;
    210 cudaErrorAlreadyAcquired;
    211 cudaErrorNotMapped;
    212 cudaErrorNotMappedAsArray;
    213 cudaErrorNotMappedAsPointer;
    214 cudaErrorECCUncorrectable;
    215 cudaErrorUnsupportedLimit;
    216 cudaErrorDeviceAlreadyInUse;
    217 cudaErrorPeerAccessUnsupported;
    218 cudaErrorInvalidPtx;
    219 cudaErrorInvalidGraphicsContext;
    220 cudaErrorNvlinkUncorrectable;
    221 cudaErrorJitCompilerNotFound;
    222 cudaErrorUnsupportedPtxVersion;
    223 cudaErrorJitCompilationDisabled;
    224 cudaErrorUnsupportedExecAffinity;
    225 cudaErrorUnsupportedDevSideSync;
    226 cudaErrorContained;
    300 cudaErrorInvalidSource;
    301 cudaErrorFileNotFound;
    302 cudaErrorSharedObjectSymbolNotFound;
    303 cudaErrorSharedObjectInitFailed;
    304 cudaErrorOperatingSystem;
    400 cudaErrorInvalidResourceHandle;
    401 cudaErrorIllegalState;
    402 cudaErrorLossyQuery;
    500 cudaErrorSymbolNotFound;
    600 cudaErrorNotReady;
    700 cudaErrorIllegalAddress;
    701 cudaErrorLaunchOutOfResources;
    702 cudaErrorLaunchTimeout;
    703 cudaErrorLaunchIncompatibleTexturing;
    704 cudaErrorPeerAccessAlreadyEnabled;
    705 cudaErrorPeerAccessNotEnabled;
    708 cudaErrorSetOnActiveProcess;
    709 cudaErrorContextIsDestroyed;
    710 cudaErrorAssert;
    711 cudaErrorTooManyPeers;
    712 cudaErrorHostMemoryAlreadyRegistered;
    713 cudaErrorHostMemoryNotRegistered;
    714 cudaErrorHardwareStackError;
    715 cudaErrorIllegalInstruction;
    716 cudaErrorMisalignedAddress;
    717 cudaErrorInvalidAddressSpace;
    718 cudaErrorInvalidPc;
    719 cudaErrorLaunchFailure;
    720 cudaErrorCooperativeLaunchTooLarge;
    721 cudaErrorTensorMemoryLeak;
    800 cudaErrorNotPermitted;
    801 cudaErrorNotSupported;
    802 cudaErrorSystemNotReady;
    803 cudaErrorSystemDriverMismatch;
    804 cudaErrorCompatNotSupportedOnDevice;
    805 cudaErrorMpsConnectionFailed;
    806 cudaErrorMpsRpcFailure;
    807 cudaErrorMpsServerNotReady;
    808 cudaErrorMpsMaxClientsReached;
    809 cudaErrorMpsMaxConnectionsReached;
    810 cudaErrorMpsClientTerminated;
    811 cudaErrorCdpNotSupported;
    812 cudaErrorCdpVersionMismatch;
    900 cudaErrorStreamCaptureUnsupported;
    901 cudaErrorStreamCaptureInvalidated;
    902 cudaErrorStreamCaptureMerge;
    903 cudaErrorStreamCaptureUnmatched;
    904 cudaErrorStreamCaptureUnjoined;
    905 cudaErrorStreamCaptureIsolation;
    906 cudaErrorStreamCaptureImplicit;
    907 cudaErrorCapturedEvent;
    908 cudaErrorStreamCaptureWrongThread;
    909 cudaErrorTimeout;
    910 cudaErrorGraphExecUpdateFailure;
    911 cudaErrorExternalDevice;
    912 cudaErrorInvalidClusterSize;
    913 cudaErrorFunctionNotLoaded;
    914 cudaErrorInvalidResourceType;
    915 cudaErrorInvalidResourceConfiguration;
    999 cudaErrorUnknown;
}

/// The name, such as `cudaErrorInvalidValue`.
pub(super) fn name_of(status: Status) -> *const c_char {
    let place = NUMBERS.iter().position(|number| Status::from(*number) == status);
    let Some(place) = place else { return c"cudaErrorUnknown".as_ptr() };
    let mut rest = NAMES;
    for _ in 0..place {
        let behind = rest.iter().position(|byte| *byte == 0).map_or(0, |end| end + 1);
        rest = rest.get(behind..).unwrap_or_default();
    }
    rest.as_ptr().cast()
}
