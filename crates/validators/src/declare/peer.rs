// SPDX-License-Identifier: Apache-2.0
//! Tensors marked `peer`, which is about device indices: it says nothing of what is in host memory.

use super::{Bindings, Declarations};
use crate::path::Path;
use kernpack_ffi_abi::DeviceType;
use kernpack_syntax::{Diagnostic, Span};

/// A tensor that is marked `peer`.
#[derive(Clone, Debug)]
pub(super) struct Peer {
    path: String,
    /// Where the parameter's name stands.
    span: Span,
    /// The devices that it may be on; `None`: the default one.
    devices: Option<Vec<DeviceType>>,
}

impl Declarations {
    /// A tensor on any device index, of those devices or of the default one.
    pub fn peer(&mut self, at: &Path, devices: Option<&[DeviceType]>) {
        let (path, span) = (at.text.clone(), self.param);
        self.peers.push(Peer { path, span, devices: devices.map(<[_]>::to_vec) });
    }
}

impl Bindings {
    /// Reports each tensor marked `peer` that can only be in host memory, where those that name no
    /// device are on `default`; `None` leaves that open.
    pub(crate) fn check_peers(&self, default: Option<DeviceType>) -> Vec<Diagnostic> {
        let on_host = |peer: &&Peer| match (&peer.devices, default) {
            (Some(devices), _) => !devices.iter().any(|device| device.has_index()),
            (None, default) => default.is_some_and(|device| !device.has_index()),
        };
        let report = |peer: &Peer| {
            let message = format!("`{}` is in host memory, where `peer` says nothing", peer.path);
            Diagnostic::new("tensor-options", message)
                .label(peer.span, "only on `cuda` and `cuda_managed` has a tensor a device index")
                .help("remove `peer`, or write `device=cuda`")
        };
        self.peers.iter().filter(on_host).map(report).collect()
    }
}
