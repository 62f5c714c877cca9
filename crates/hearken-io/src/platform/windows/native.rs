//! The Windows calls that no safe crate offers: the only module that may contain `unsafe`.
//!
//! Responsibilities: each function asks or does one thing, and its result is safe to use. Not here: any decision.

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

/// The access list of a file that belongs to this person, whose id replaces `{}`: full access for them and the system,
/// none for anyone else, whatever the folder grants; anything created later in a folder inherits it.
const OWNER_ALONE: &str = "D:P(A;OICI;FA;;;{})(A;OICI;FA;;;SY)";

/// The bytes that a pipe buffers until they are read (AAEP B.3.2).
const PIPE_BUFFER: u32 = 1024 * 1024;

/// The space for a user's id, in words of 8 bytes: the longest id has 68 bytes, and the pointer to it 16.
const USER_WORDS: usize = 32;

/// The longest path that the system accepts without a prefix.
const SHORT_PATH: usize = 247;

/// Returns whether the system's flag says that a screen reader is on.
pub(super) fn screen_reader() -> io::Result<bool> {
    let mut on = 0_i32;
    // SAFETY: for this query the system writes one BOOL to the given pointer.
    let done = unsafe { SystemParametersInfoW(SPI_GETSCREENREADER, 0, (&raw mut on).cast(), 0) };
    if done == 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(on != 0)
}

/// Returns whether a window with a class and a title exists.
pub(super) fn has_window(class: &str, title: &str) -> bool {
    let (class, title) = (wide(class), wide(title));
    // SAFETY: both are zero-terminated texts that live until the call returns.
    let found = unsafe { FindWindowW(class.as_ptr(), title.as_ptr()) };
    !found.is_null()
}

/// Returns a number from the person's part of the registry, if it is there.
pub(super) fn number_of_person(key: &str, value: &str) -> io::Result<Option<u32>> {
    let (key, value) = (wide(key), wide(value));
    let mut number = 0_u32;
    let mut size = 4_u32;
    // SAFETY: zero-terminated texts; a four-byte number is written to four bytes, as `size` states.
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

/// Creates a new file that is for its owner alone from the start.
pub(super) fn create_for_owner(path: &Path) -> io::Result<File> {
    let rights = Rights::owner_alone()?;
    let attributes = attributes(&rights);
    let path = wide_path(path)?;
    // SAFETY: a zero-terminated path, and access rights that live until the call returns.
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
    // SAFETY: the handle is open, and nothing else owns it.
    Ok(File::from(unsafe { OwnedHandle::from_raw_handle(handle) }))
}

/// Removes everyone's rights but the owner's from an existing file or folder.
pub(super) fn keep_for_owner(path: &Path) -> io::Result<()> {
    let rights = Rights::owner_alone()?;
    let path = wide_path(path)?;
    let what = DACL_SECURITY_INFORMATION | PROTECTED_DACL_SECURITY_INFORMATION;
    // SAFETY: a zero-terminated path, and access rights that live until the call returns.
    let done = unsafe { SetFileSecurityW(path.as_ptr(), what, rights.0) };
    if done == 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Opens an end of a pipe that waits for one of this person's programs: message by message (AAEP B.3.2), from this
/// machine only. The first end must be the first with that name.
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
    // SAFETY: the pointer leads to attributes whose access rights live until the call returns.
    unsafe { options.create_with_security_attributes_raw(name, (&raw mut attributes).cast()) }
}

/// Returns the owner of the program that listens at the other end of a pipe handle.
pub(super) fn server_of(pipe: RawHandle) -> io::Result<Owner> {
    let mut process = 0;
    // SAFETY: the handle is open, and one number is written to the given pointer.
    if unsafe { GetNamedPipeServerProcessId(pipe, &raw mut process) } == 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the arguments are plain numbers, and the returned handle gets an owner.
    let process = unsafe { OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, 0, process) };
    let theirs = User::of(&owned(process)?)?;
    let own = User::own()?;
    // SAFETY: both users live until the calls return.
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

/// Returns the processor time of a process, even after it has ended.
pub(super) fn processor_time(process: RawHandle) -> io::Result<Duration> {
    let mut times = [FILETIME::default(); 4];
    let [begun, ended, system, own] = &mut times;
    // SAFETY: the handle keeps the process, and the four times are written to valid places.
    if unsafe { GetProcessTimes(process, begun, ended, system, own) } == 0 {
        return Err(io::Error::last_os_error());
    }
    let [_, _, system, own] = times;
    // In steps of 100 nanoseconds.
    let steps =
        |time: FILETIME| u64::from(time.dwHighDateTime) << 32 | u64::from(time.dwLowDateTime);
    Ok(Duration::from_nanos((steps(system) + steps(own)) * 100))
}

/// Returns the peak memory use of a process in bytes, even after it has ended.
pub(super) fn peak_memory(process: RawHandle) -> io::Result<u64> {
    let size = size_of::<PROCESS_MEMORY_COUNTERS>() as u32;
    let mut counters = PROCESS_MEMORY_COUNTERS {
        cb: size,
        ..PROCESS_MEMORY_COUNTERS::default()
    };
    // SAFETY: the handle keeps the process, and the counters have the stated size.
    if unsafe { K32GetProcessMemoryInfo(process, &raw mut counters, size) } == 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(counters.PeakWorkingSetSize as u64)
}

/// Takes ownership of a handle that the system just returned, if it returned one.
fn owned(handle: RawHandle) -> io::Result<OwnedHandle> {
    if handle.is_null() {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the handle is open, and nothing else owns it.
    Ok(unsafe { OwnedHandle::from_raw_handle(handle) })
}

/// The user of a process in the system's layout: a `TOKEN_USER` followed by the id, suitably aligned.
struct User(Vec<u64>);

impl User {
    fn own() -> io::Result<Self> {
        // SAFETY: it takes no arguments; the pseudo handle it returns means this process and is never closed.
        Self::of_handle(unsafe { GetCurrentProcess() })
    }

    fn of(process: &OwnedHandle) -> io::Result<Self> {
        Self::of_handle(process.as_raw_handle())
    }

    fn of_handle(process: RawHandle) -> io::Result<Self> {
        let mut token = null_mut();
        // SAFETY: the process is open, and a handle is written to the given pointer.
        if unsafe { OpenProcessToken(process, TOKEN_QUERY, &raw mut token) } == 0 {
            return Err(io::Error::last_os_error());
        }
        let token = owned(token)?;
        let mut room = vec![0_u64; USER_WORDS];
        let mut length = 0;
        let size = u32::try_from(size_of_val(room.as_slice())).unwrap_or(0);
        // SAFETY: at most `size` bytes are written, and that many are there.
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

    /// Returns the id in its text form.
    fn words(&self) -> io::Result<String> {
        let mut words = null_mut();
        // SAFETY: the id lives until the call returns; `words` then points to the new text.
        if unsafe { ConvertSidToStringSidW(self.sid(), &raw mut words) } == 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(taken(words))
    }

    fn sid(&self) -> PSID {
        // SAFETY: the system wrote a TOKEN_USER there, which points into the same buffer.
        unsafe { (*self.0.as_ptr().cast::<TOKEN_USER>()).User.Sid }
    }
}

/// Copies a text that the system allocated, and frees it.
fn taken(words: *mut u16) -> String {
    // SAFETY: the system zero-terminated the text and allocated it to be freed this way, and nothing else points to it.
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

/// Access rights that the system built from their text form.
struct Rights(PSECURITY_DESCRIPTOR);

impl Rights {
    fn owner_alone() -> io::Result<Self> {
        let words = wide(&OWNER_ALONE.replace("{}", &User::own()?.words()?));
        let mut rights: PSECURITY_DESCRIPTOR = null_mut();
        // SAFETY: a zero-terminated text; `rights` then points to the new descriptor.
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
        // SAFETY: the system allocated it to be freed this way, and nothing else points to it.
        unsafe { LocalFree(self.0) };
    }
}

/// Returns a text as the system expects it: UTF-16 with a final zero.
fn wide(text: &str) -> Vec<u16> {
    text.encode_utf16().chain([0]).collect()
}

/// Returns a path as the system expects it, also a long one.
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

/// The functions of NVDA's controller client, version 2 (2024.1) or later.
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

/// NVDA speaks symbols according to its user's settings.
const SYMBOLS_UNCHANGED: i32 = -1;

/// NVDA's own speech is spoken alongside.
const NORMAL_PRIORITY: i32 = 0;

/// Returns a function of a library with its own type.
///
/// # Safety
/// `Function` must be the type of a pointer to the function of that name.
unsafe fn function<Function: Copy>(library: HMODULE, name: &CStr) -> io::Result<Function> {
    // SAFETY: the library is loaded, and the name is zero-terminated.
    let found = unsafe { GetProcAddress(library, name.as_ptr().cast()) };
    let found = found.ok_or(io::ErrorKind::NotFound)?;
    // SAFETY: both are function pointers of the same size; the caller guarantees that the types agree.
    Ok(unsafe { std::mem::transmute_copy(&found) })
}

impl Library {
    /// Loads the library; it stays loaded until the process ends.
    pub(super) fn load(path: &Path) -> io::Result<Self> {
        let path = wide_path(path)?;
        // SAFETY: a full, zero-terminated path. What the library does while loading is beyond our control, which is why
        // it is loaded in a process that does nothing else.
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
        // SAFETY: it takes no arguments.
        unsafe { (self.test_if_running)() }
    }

    pub(super) fn cancel_speech(self) -> u32 {
        // SAFETY: it takes no arguments.
        unsafe { (self.cancel_speech)() }
    }

    pub(super) fn braille_message(self, text: &str) -> u32 {
        let text = wide(text);
        // SAFETY: a zero-terminated text that lives until the call returns.
        unsafe { (self.braille_message)(text.as_ptr()) }
    }

    pub(super) fn process_id(self) -> u32 {
        let mut number = 0;
        // SAFETY: one number is written to the given pointer.
        unsafe { (self.process_id)(&raw mut number) }
    }

    pub(super) fn speak_ssml(self, ssml: &str) -> u32 {
        let ssml = wide(ssml);
        // SAFETY: a zero-terminated text that lives until the call returns: the last argument makes the call wait.
        unsafe { (self.speak_ssml)(ssml.as_ptr(), SYMBOLS_UNCHANGED, NORMAL_PRIORITY, 0) }
    }
}

#[cfg(test)]
mod tests {
    use windows_sys::Win32::Security::Authorization::ConvertSecurityDescriptorToStringSecurityDescriptorW;
    use windows_sys::Win32::Security::GetFileSecurityW;

    use super::*;

    /// Returns a file's access list in the system's text form.
    fn rights_of(path: &Path) -> String {
        let path = wide_path(path).unwrap();
        let mut room = [0_u64; 128];
        let (mut length, mut words) = (0, null_mut());
        // SAFETY: a zero-terminated path, a buffer of the stated size, and a text that the system allocates.
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
        // Everyone, the built-in users group, and authenticated users.
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
        // A library that is too old has no system error number.
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
