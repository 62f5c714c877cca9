//! The calls of Windows that no safe crate offers: the one room in which `unsafe` may stand.
//!
//! Responsibilities: each function asks or does one thing, and what it gives is safe to use. Not here: any decision.

#![allow(
    unsafe_code,
    reason = "the system's functions take pointers; tests/architecture.rs holds every other room to none"
)]

use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::os::windows::ffi::OsStrExt as _;
use std::os::windows::io::{AsRawHandle as _, FromRawHandle as _, OwnedHandle, RawHandle};
use std::path::Path;
use std::ptr::null_mut;
use std::time::Duration;

use tokio::net::windows::named_pipe::{NamedPipeServer, PipeMode, ServerOptions};
use windows_sys::Win32::Foundation::{
    ERROR_FILE_NOT_FOUND, ERROR_SUCCESS, FILETIME, GENERIC_WRITE, HMODULE, INVALID_HANDLE_VALUE,
    LocalFree,
};
use windows_sys::Win32::Security::Authorization::{
    ConvertSidToStringSidW, ConvertStringSecurityDescriptorToSecurityDescriptorW, SDDL_REVISION_1,
};
use windows_sys::Win32::Security::{
    DACL_SECURITY_INFORMATION, EqualSid, GetTokenInformation, IsWellKnownSid,
    PROTECTED_DACL_SECURITY_INFORMATION, PSECURITY_DESCRIPTOR, PSID, SECURITY_ATTRIBUTES,
    SetFileSecurityW, TOKEN_QUERY, TOKEN_USER, TokenUser, WinLocalSystemSid,
};
use windows_sys::Win32::Storage::FileSystem::{
    CREATE_NEW, CreateFileW, FILE_ATTRIBUTE_NORMAL, FILE_SHARE_DELETE, FILE_SHARE_READ,
    FILE_SHARE_WRITE,
};
use windows_sys::Win32::System::LibraryLoader::{
    GetProcAddress, LOAD_WITH_ALTERED_SEARCH_PATH, LoadLibraryExW,
};
use windows_sys::Win32::System::Pipes::GetNamedPipeServerProcessId;
use windows_sys::Win32::System::ProcessStatus::{K32GetProcessMemoryInfo, PROCESS_MEMORY_COUNTERS};
use windows_sys::Win32::System::Registry::{HKEY_CURRENT_USER, RRF_RT_REG_DWORD, RegGetValueW};
use windows_sys::Win32::System::Threading::{
    GetCurrentProcess, GetProcessTimes, OpenProcess, OpenProcessToken,
    PROCESS_QUERY_LIMITED_INFORMATION,
};
use windows_sys::Win32::UI::WindowsAndMessaging::{
    FindWindowW, SPI_GETSCREENREADER, SystemParametersInfoW,
};

use crate::platform::Owner;

/// Who may do what with something of this person's, whose id stands in the place of `{}`: they and the system all, nobody
/// else anything, whatever the folder says; what is made in a folder later has the same.
const OWNER_ALONE: &str = "D:P(A;OICI;FA;;;{})(A;OICI;FA;;;SY)";

/// How much a pipe keeps of what nobody has read yet, in bytes (AAEP B.3.2).
const PIPE_BUFFER: u32 = 1024 * 1024;

/// The room for a user's id: the longest has 68 bytes, and what points at it 16.
const USER_WORDS: usize = 32;

/// The longest path that the system takes as it stands.
const SHORT_PATH: usize = 247;

/// Returns whether the system's flag says that a screen reader is on.
pub(super) fn screen_reader() -> io::Result<bool> {
    let mut on = 0_i32;
    // SAFETY: for this question the system writes one BOOL to where it is pointed at.
    let done = unsafe { SystemParametersInfoW(SPI_GETSCREENREADER, 0, (&raw mut on).cast(), 0) };
    if done == 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(on != 0)
}

/// Returns whether a window of a class and a title is there.
pub(super) fn has_window(class: &str, title: &str) -> bool {
    let (class, title) = (wide(class), wide(title));
    // SAFETY: both are texts with a zero at their end, and live until the call is over.
    let found = unsafe { FindWindowW(class.as_ptr(), title.as_ptr()) };
    !found.is_null()
}

/// Returns a number out of the person's part of the registry, where there is one.
pub(super) fn number_of_person(key: &str, value: &str) -> io::Result<Option<u32>> {
    let (key, value) = (wide(key), wide(value));
    let mut number = 0_u32;
    let mut size = 4_u32;
    // SAFETY: texts with a zero at their end; a number of four bytes is written to four bytes, as `size` says.
    let code = unsafe {
        RegGetValueW(
            HKEY_CURRENT_USER,
            key.as_ptr(),
            value.as_ptr(),
            RRF_RT_REG_DWORD,
            null_mut(),
            (&raw mut number).cast(),
            &raw mut size,
        )
    };
    match code {
        ERROR_SUCCESS => Ok(Some(number)),
        ERROR_FILE_NOT_FOUND => Ok(None),
        other => Err(io::Error::from_raw_os_error(other.cast_signed())),
    }
}

/// Makes a file that was not there, for its owner alone from its first moment on.
pub(super) fn create_for_owner(path: &Path) -> io::Result<File> {
    let rights = Rights::owner_alone()?;
    let attributes = attributes(&rights);
    let path = wide_path(path)?;
    // SAFETY: a path with a zero at its end, and rights that live until the call is over.
    let handle = unsafe {
        CreateFileW(
            path.as_ptr(),
            GENERIC_WRITE,
            FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
            &raw const attributes,
            CREATE_NEW,
            FILE_ATTRIBUTE_NORMAL,
            null_mut(),
        )
    };
    if handle == INVALID_HANDLE_VALUE {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the handle is open, and nobody else has it.
    Ok(File::from(unsafe { OwnedHandle::from_raw_handle(handle) }))
}

/// Takes everybody's rights but the owner's from a file or a folder that is there.
pub(super) fn keep_for_owner(path: &Path) -> io::Result<()> {
    let rights = Rights::owner_alone()?;
    let path = wide_path(path)?;
    let what = DACL_SECURITY_INFORMATION | PROTECTED_DACL_SECURITY_INFORMATION;
    // SAFETY: a path with a zero at its end, and rights that live until the call is over.
    let done = unsafe { SetFileSecurityW(path.as_ptr(), what, rights.0) };
    if done == 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Opens an end of a pipe that waits for somebody of this person: a message at a time (AAEP B.3.2), from this machine alone.
/// The first end has to be the first one of that name.
pub(super) fn pipe_for_owner(name: &str, is_first: bool) -> io::Result<NamedPipeServer> {
    let rights = Rights::owner_alone()?;
    let mut attributes = attributes(&rights);
    let mut options = ServerOptions::new();
    options
        .pipe_mode(PipeMode::Message)
        .first_pipe_instance(is_first)
        .reject_remote_clients(true)
        .out_buffer_size(PIPE_BUFFER)
        .in_buffer_size(PIPE_BUFFER);
    // SAFETY: it points at attributes, whose rights live until the call is over.
    unsafe { options.create_with_security_attributes_raw(name, (&raw mut attributes).cast()) }
}

/// Returns whose program listens at the pipe that a handle is of.
pub(super) fn server_of(pipe: RawHandle) -> io::Result<Owner> {
    let mut process = 0;
    // SAFETY: the handle is open, and one number is written to where it is pointed at.
    if unsafe { GetNamedPipeServerProcessId(pipe, &raw mut process) } == 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: it takes numbers, and what it gives is taken into an owner.
    let process = unsafe { OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, 0, process) };
    let theirs = User::of(&owned(process)?)?;
    let own = User::own()?;
    // SAFETY: both users live until the calls are over.
    Ok(unsafe {
        if EqualSid(own.sid(), theirs.sid()) != 0 {
            Owner::Own
        } else if IsWellKnownSid(theirs.sid(), WinLocalSystemSid) != 0 {
            Owner::System
        } else {
            Owner::Another
        }
    })
}

/// Returns the processor time of a process, which may have ended.
pub(super) fn processor_time(process: RawHandle) -> io::Result<Duration> {
    let mut times = [FILETIME::default(); 4];
    let [begun, ended, system, own] = &mut times;
    // SAFETY: the handle is of a process that is held, and the four times are written to.
    if unsafe { GetProcessTimes(process, begun, ended, system, own) } == 0 {
        return Err(io::Error::last_os_error());
    }
    let [_, _, system, own] = times;
    // In steps of 100 nanoseconds.
    let steps =
        |time: FILETIME| u64::from(time.dwHighDateTime) << 32 | u64::from(time.dwLowDateTime);
    Ok(Duration::from_nanos((steps(system) + steps(own)) * 100))
}

/// Returns the most memory that a process held, in bytes; it may have ended.
pub(super) fn peak_memory(process: RawHandle) -> io::Result<u64> {
    let size = size_of::<PROCESS_MEMORY_COUNTERS>() as u32;
    let mut counters = PROCESS_MEMORY_COUNTERS {
        cb: size,
        ..PROCESS_MEMORY_COUNTERS::default()
    };
    // SAFETY: the handle is of a process that is held, and the counters have the size that is named.
    if unsafe { K32GetProcessMemoryInfo(process, &raw mut counters, size) } == 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(counters.PeakWorkingSetSize as u64)
}

/// Takes a handle that was just given, if one was.
fn owned(handle: RawHandle) -> io::Result<OwnedHandle> {
    if handle.is_null() {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the handle is open, and nobody else has it.
    Ok(unsafe { OwnedHandle::from_raw_handle(handle) })
}

/// Who a process is of, as the system writes it: a `TOKEN_USER` with the id behind it, at a place that suits it.
struct User(Vec<u64>);

impl User {
    fn own() -> io::Result<Self> {
        // SAFETY: it takes nothing; what it gives stands for this process and is never closed.
        Self::of_handle(unsafe { GetCurrentProcess() })
    }

    fn of(process: &OwnedHandle) -> io::Result<Self> {
        Self::of_handle(process.as_raw_handle())
    }

    fn of_handle(process: RawHandle) -> io::Result<Self> {
        let mut token = null_mut();
        // SAFETY: the process is open, and a handle is written to where it is pointed at.
        if unsafe { OpenProcessToken(process, TOKEN_QUERY, &raw mut token) } == 0 {
            return Err(io::Error::last_os_error());
        }
        let token = owned(token)?;
        let mut room = vec![0_u64; USER_WORDS];
        let mut length = 0;
        let size = u32::try_from(size_of_val(room.as_slice())).unwrap_or(0);
        // SAFETY: no more is written than `size` bytes, which are there.
        let done = unsafe {
            GetTokenInformation(
                token.as_raw_handle(),
                TokenUser,
                room.as_mut_ptr().cast(),
                size,
                &raw mut length,
            )
        };
        if done == 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(Self(room))
    }

    /// Returns the id as it is written.
    fn words(&self) -> io::Result<String> {
        let mut words = null_mut();
        // SAFETY: the id lives until the call is over; what is made is pointed at by `words`.
        if unsafe { ConvertSidToStringSidW(self.sid(), &raw mut words) } == 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(taken(words))
    }

    fn sid(&self) -> PSID {
        // SAFETY: the system wrote a TOKEN_USER there, which points into the same room.
        unsafe { (*self.0.as_ptr().cast::<TOKEN_USER>()).User.Sid }
    }
}

/// Takes a text that the system made, and gives its room back.
fn taken(words: *mut u16) -> String {
    // SAFETY: the system ended it with a zero and made it to be freed in this way, and nobody points at it any more.
    unsafe {
        let length = (0..).take_while(|at| *words.add(*at) != 0).count();
        let text = String::from_utf16_lossy(std::slice::from_raw_parts(words, length));
        LocalFree(words.cast());
        text
    }
}

fn attributes(rights: &Rights) -> SECURITY_ATTRIBUTES {
    SECURITY_ATTRIBUTES {
        nLength: u32::try_from(size_of::<SECURITY_ATTRIBUTES>()).unwrap_or(0),
        lpSecurityDescriptor: rights.0,
        bInheritHandle: 0,
    }
}

/// Rights as the system made them of words.
struct Rights(PSECURITY_DESCRIPTOR);

impl Rights {
    fn owner_alone() -> io::Result<Self> {
        let words = wide(&OWNER_ALONE.replace("{}", &User::own()?.words()?));
        let mut rights: PSECURITY_DESCRIPTOR = null_mut();
        // SAFETY: a text with a zero at its end; what is made is pointed at by `rights`.
        let done = unsafe {
            ConvertStringSecurityDescriptorToSecurityDescriptorW(
                words.as_ptr(),
                SDDL_REVISION_1,
                &raw mut rights,
                null_mut(),
            )
        };
        if done == 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(Self(rights))
    }
}

impl Drop for Rights {
    fn drop(&mut self) {
        // SAFETY: the system made it, to be freed in this way, and nobody points at it any more.
        unsafe { LocalFree(self.0) };
    }
}

/// Returns a text as the system takes it.
fn wide(text: &str) -> Vec<u16> {
    text.encode_utf16().chain([0]).collect()
}

/// Returns a path as the system takes it, a long one too.
fn wide_path(path: &Path) -> io::Result<Vec<u16>> {
    let path = std::path::absolute(path)?;
    let plain: Vec<u16> = path.as_os_str().encode_wide().collect();
    if plain.contains(&0) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let has_prefix = plain.starts_with(&[u16::from(b'\\'), u16::from(b'\\')]);
    let prefix = (plain.len() > SHORT_PATH && !has_prefix).then_some(r"\\?\");
    let prefix = prefix.unwrap_or_default().encode_utf16();
    Ok(prefix.chain(plain).chain([0]).collect())
}

/// The functions of NVDA's controller client, of its second version (2024.1) or a later one.
///
/// Source: `nvdaController.idl` of NVDA.
#[derive(Debug, Clone, Copy)]
pub(super) struct Library {
    test_if_running: unsafe extern "system" fn() -> u32,
    cancel_speech: unsafe extern "system" fn() -> u32,
    braille_message: unsafe extern "system" fn(*const u16) -> u32,
    process_id: unsafe extern "system" fn(*mut u32) -> u32,
    speak_ssml: unsafe extern "system" fn(*const u16, i32, i32, u8) -> u32,
}

/// NVDA says symbols as its user has set it.
const SYMBOLS_UNCHANGED: i32 = -1;

/// What NVDA says itself is said beside it.
const NORMAL_PRIORITY: i32 = 0;

/// Returns a function of a library as what it is.
///
/// # Safety
/// `Function` must be the type of a pointer to the function of that name.
unsafe fn function<Function: Copy>(library: HMODULE, name: &CStr) -> io::Result<Function> {
    // SAFETY: the library is loaded, and the name has a zero at its end.
    let found = unsafe { GetProcAddress(library, name.as_ptr().cast()) };
    let found = found.ok_or(io::ErrorKind::NotFound)?;
    // SAFETY: both are pointers to functions, of one size; that the types agree is the caller's word.
    Ok(unsafe { std::mem::transmute_copy(&found) })
}

impl Library {
    /// Loads it; it stays until the process ends.
    pub(super) fn load(path: &Path) -> io::Result<Self> {
        let path = wide_path(path)?;
        // SAFETY: a whole path with a zero at its end. What the library does when it is loaded is its own; that is why it is
        // loaded in a process that does nothing else.
        let library =
            unsafe { LoadLibraryExW(path.as_ptr(), null_mut(), LOAD_WITH_ALTERED_SEARCH_PATH) };
        if library.is_null() {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the types are those of the library's interface.
        unsafe {
            Ok(Self {
                test_if_running: function(library, c"nvdaController_testIfRunning")?,
                cancel_speech: function(library, c"nvdaController_cancelSpeech")?,
                braille_message: function(library, c"nvdaController_brailleMessage")?,
                process_id: function(library, c"nvdaController_getProcessId")?,
                speak_ssml: function(library, c"nvdaController_speakSsml")?,
            })
        }
    }

    pub(super) fn test_if_running(self) -> u32 {
        // SAFETY: it takes nothing.
        unsafe { (self.test_if_running)() }
    }

    pub(super) fn cancel_speech(self) -> u32 {
        // SAFETY: it takes nothing.
        unsafe { (self.cancel_speech)() }
    }

    pub(super) fn braille_message(self, text: &str) -> u32 {
        let text = wide(text);
        // SAFETY: a text with a zero at its end, which lives until the call is over.
        unsafe { (self.braille_message)(text.as_ptr()) }
    }

    pub(super) fn process_id(self) -> u32 {
        let mut number = 0;
        // SAFETY: one number is written to where it is pointed at.
        unsafe { (self.process_id)(&raw mut number) }
    }

    pub(super) fn speak_ssml(self, ssml: &str) -> u32 {
        let ssml = wide(ssml);
        // SAFETY: a text with a zero at its end, which lives until the call is over: the last word says that it waits.
        unsafe { (self.speak_ssml)(ssml.as_ptr(), SYMBOLS_UNCHANGED, NORMAL_PRIORITY, 0) }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use windows_sys::Win32::Security::Authorization::ConvertSecurityDescriptorToStringSecurityDescriptorW;
    use windows_sys::Win32::Security::GetFileSecurityW;

    use super::*;

    /// Returns the list of who may do what with a file, in the system's words.
    fn rights_of(path: &Path) -> String {
        let path = wide_path(path).unwrap();
        let mut room = [0_u64; 128];
        let (mut length, mut words) = (0, null_mut());
        // SAFETY: a path with a zero at its end, a room of the size that is said, and a text that the system makes.
        unsafe {
            let size = u32::try_from(size_of_val(&room)).unwrap();
            let what = DACL_SECURITY_INFORMATION;
            let place = room.as_mut_ptr().cast();
            assert_ne!(
                GetFileSecurityW(path.as_ptr(), what, place, size, &raw mut length),
                0
            );
            let done = ConvertSecurityDescriptorToStringSecurityDescriptorW(
                place,
                SDDL_REVISION_1,
                what,
                &raw mut words,
                null_mut(),
            );
            assert_ne!(done, 0);
        }
        taken(words)
    }

    #[test]
    fn a_file_for_its_owner_is_nobody_elses() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("record.jsonl");
        drop(create_for_owner(&path).unwrap());
        let again = create_for_owner(&path).unwrap_err();
        assert_eq!(again.kind(), io::ErrorKind::AlreadyExists);
        let rights = rights_of(&path);
        // Everybody, users, and who has signed in.
        for other in [";WD)", ";BU)", ";AU)"] {
            assert!(!rights.contains(other), "{rights}");
        }
        let open = folder.path().join("open");
        std::fs::write(&open, "").unwrap();
        keep_for_owner(&open).unwrap();
        assert_eq!(rights_of(&open), rights);
        assert!(
            rights.contains(&User::own().unwrap().words().unwrap()),
            "{rights}"
        );
        std::fs::remove_file(&path).unwrap();
        let deep = folder.path().join("deep");
        std::fs::create_dir(&deep).unwrap();
        keep_for_owner(&deep).unwrap();
        std::fs::write(deep.join("mine"), "").unwrap();
    }

    #[test]
    fn what_is_not_there_is_not_found() {
        assert!(!has_window("no such class", "no such title"));
        assert_eq!(
            number_of_person(r"Software\No such key", "none").unwrap(),
            None
        );
        // What is too old has no number of the system's.
        let error = Library::load(Path::new(r"C:\no such library.dll")).unwrap_err();
        assert!(error.raw_os_error().is_some(), "{error:?}");
        screen_reader().unwrap();
    }

    #[test]
    fn a_long_path_is_taken_whole() {
        let folder = tempfile::tempdir().unwrap();
        let deep = (0..6).fold(folder.path().to_owned(), |path, _| {
            path.join("x".repeat(60))
        });
        std::fs::create_dir_all(&deep).unwrap();
        create_for_owner(&deep.join("record.jsonl")).unwrap();
    }
}
