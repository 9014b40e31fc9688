// SPDX-License-Identifier: Apache-2.0
//! What the stub is told to be and to do: lines of words.
//!
//! ```text
//! # as a comment
//! devices 2                                 how many, 2 unless said
//! driver 13000                              what cuDriverGetVersion says
//! device 1 compute 10.0                     the compute capability
//! device 1 name Some GPU
//! device 1 attribute 97 232448              any CUdevice_attribute, by number
//! capture-loads allowed                     or `refused`, the default: cuLibraryLoadData under a global capture
//! stream-handles reused                     or `new`, the default: what handle a stream gets when others have ended
//! stacks told                               through which files each call came, in the log
//! fail cuLaunchKernelEx with 719            every call fails so
//! fail cuLaunchKernelEx 3 with 719          the third call does
//! fail cuLibraryLoadData on 1 with 2        calls while device 1 is current do
//! delay cuLibraryLoadData 20                calls take so many milliseconds more
//! log /tmp/calls.jsonl                      the log goes to a file as well
//! images /tmp/images                        images that are loaded go to files of this folder, by their digests in the log
//! ```
//!
//! Devices are H200s until a line says otherwise. `fail` counts calls from the reset on, or from
//! when the rule was made.

use crate::h200;
use std::path::PathBuf;

/// One device.
#[derive(Clone, Debug)]
pub struct Device {
    /// The name.
    pub name: String,
    /// The attributes, by number.
    pub attributes: Vec<i32>,
}

impl Device {
    /// The value of an attribute, if there is one of that number.
    pub fn attribute(&self, number: u32) -> Option<i32> {
        if number == 0 { None } else { self.attributes.get(number as usize).copied() }
    }

    /// The value of an attribute that counts something, by a number that exists.
    pub fn limit(&self, number: u32) -> u32 {
        self.attribute(number).and_then(|value| u32::try_from(value).ok()).unwrap_or(0)
    }

    /// Major and minor compute capability.
    pub fn compute(&self) -> (u32, u32) {
        (self.limit(75), self.limit(76))
    }
}

/// A call that is to fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The function.
    pub function: String,
    /// Which call from now on, from 1; all calls if none is named.
    pub nth: Option<u64>,
    /// The device that has to be current, if one is named.
    pub device: Option<usize>,
    /// The code to answer.
    pub code: u32,
    /// How many calls of the function there have been since the rule was made.
    pub n_seen: u64,
}

/// All of it.
#[derive(Clone, Debug)]
pub struct Config {
    /// The devices.
    pub devices: Vec<Device>,
    /// The version that the driver says it has.
    pub driver: i32,
    /// Whether libraries are loaded under a global capture, as the driver of CUDA 13.0 does; its
    /// manual promises nothing.
    pub loads_in_capture: bool,
    /// Whether a new stream gets the handle of one that has ended, as it may from the driver.
    pub reuses_stream_handles: bool,
    /// Whether the log tells through which files each call came.
    pub tells_stacks: bool,
    /// Calls that are to fail.
    pub failures: Vec<Failure>,
    /// Functions that take longer, and by how many milliseconds.
    pub delays: Vec<(String, u64)>,
    /// The file for the log.
    pub log: Option<PathBuf>,
    /// The folder for images that are loaded.
    pub images: Option<PathBuf>,
}

impl Default for Config {
    fn default() -> Self {
        let h200 = Device { name: h200::NAME.to_string(), attributes: h200::ATTRIBUTES.to_vec() };
        Config {
            devices: vec![h200.clone(), h200],
            driver: 13000,
            loads_in_capture: false,
            reuses_stream_handles: false,
            tells_stacks: false,
            failures: Vec::new(),
            delays: Vec::new(),
            log: None,
            images: None,
        }
    }
}

impl Config {
    /// Reads the text, and says which line cannot be read.
    pub fn parse(text: &str) -> Result<Config, String> {
        let mut config = Config::default();
        for (index, line) in text.lines().enumerate() {
            let words: Vec<_> = line.split_whitespace().collect();
            let is_comment = words.first().is_none_or(|word| word.starts_with('#'));
            if !is_comment && config.line(&words).is_none() {
                return Err(format!("line {}: cannot read `{}`", index + 1, line.trim()));
            }
        }
        Ok(config)
    }

    fn line(&mut self, words: &[&str]) -> Option<()> {
        match words {
            ["devices", n] => {
                let device = self
                    .devices
                    .first()
                    .cloned()
                    .unwrap_or_else(|| Config::default().devices.remove(0));
                self.devices.resize(n.parse().ok()?, device);
            }
            ["driver", version] => self.driver = version.parse().ok()?,
            ["device", index, rest @ ..] => {
                device_line(self.devices.get_mut(index.parse::<usize>().ok()?)?, rest)?;
            }
            ["capture-loads", "allowed"] => self.loads_in_capture = true,
            ["capture-loads", "refused"] => self.loads_in_capture = false,
            ["stream-handles", "reused"] => self.reuses_stream_handles = true,
            ["stream-handles", "new"] => self.reuses_stream_handles = false,
            ["stacks", "told"] => self.tells_stacks = true,
            ["fail", function, rest @ ..] => self.failures.push(failure(function, rest)?),
            ["delay", function, milliseconds] => {
                self.delays.push((known(function)?, milliseconds.parse().ok()?));
            }
            ["log", path] => self.log = Some(PathBuf::from(path)),
            ["images", path] => self.images = Some(PathBuf::from(path)),
            _ => return None,
        }
        Some(())
    }
}

fn device_line(device: &mut Device, words: &[&str]) -> Option<()> {
    match words {
        ["name", name @ ..] => device.name = name.join(" "),
        ["compute", compute] => {
            let (major, minor) = compute.split_once('.')?;
            device.attributes[75] = major.parse().ok()?;
            device.attributes[76] = minor.parse().ok()?;
        }
        ["attribute", number, value] => {
            let number = number.parse::<usize>().ok().filter(|number| *number > 0)?;
            *device.attributes.get_mut(number)? = value.parse().ok()?;
        }
        _ => return None,
    }
    Some(())
}

fn failure(function: &str, words: &[&str]) -> Option<Failure> {
    let (nth, device, code) = match words {
        ["with", code] => (None, None, code),
        ["on", device, "with", code] => (None, Some(device.parse().ok()?), code),
        [nth, "with", code] => (Some(nth.parse().ok()?), None, code),
        _ => return None,
    };
    let function = known(function)?;
    Some(Failure { function, nth, device, code: code.parse().ok()?, n_seen: 0 })
}

/// A function's name, if the stub has the function: a rule about another would never do anything.
pub fn known(function: &str) -> Option<String> {
    crate::api::find(function).map(|export| export.name.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_read() {
        let text = "# two\ndevices 3\ndriver 12080\ndevice 1 compute 10.3\ndevice 1 name A B\n\
            device 2 attribute 97 1000\ncapture-loads allowed\nstream-handles reused\n\
            stacks told\nfail cuInit with 100\n\
            fail cuLaunchKernelEx 3 with 719\nfail cuMemAlloc_v2 on 1 with 2\n\
            delay cuLibraryLoadData 20\nlog /tmp/x\nimages /tmp/y\n";
        let config = Config::parse(text).unwrap();
        let names: Vec<_> = config.devices.iter().map(|device| device.name.as_str()).collect();
        assert_eq!(names, ["NVIDIA H200", "A B", "NVIDIA H200"]);
        assert_eq!(config.devices[1].compute(), (10, 3));
        assert_eq!(config.devices[2].limit(97), 1000);
        assert_eq!((config.driver, config.loads_in_capture), (12080, true));
        assert!(config.reuses_stream_handles && config.tells_stacks);
        let rules = config.failures.iter();
        let rules: Vec<_> = rules.map(|rule| (rule.nth, rule.device, rule.code)).collect();
        assert_eq!(rules, [(None, None, 100), (Some(3), None, 719), (None, Some(1), 2)]);
        assert_eq!(config.delays, [("cuLibraryLoadData".to_string(), 20)]);
        assert_eq!(config.log, Some(PathBuf::from("/tmp/x")));
        assert_eq!(config.images, Some(PathBuf::from("/tmp/y")));
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let lines = [
            "device 2 compute 9.0",
            "device 0 attribute 0 1",
            "device 0 attribute 150 1",
            "fail cuNothing with 1",
            "fail cuInit 1 2 with 3",
            "delay cuNothing 1",
            "hello",
        ];
        for line in lines {
            let expected = format!("line 2: cannot read `{line}`");
            assert_eq!(Config::parse(&format!("\n {line}")).unwrap_err(), expected);
        }
    }
}
