//! The rules about lines and about the end of a stream; what one event or an order of events breaks has its names in
//! `protocol` and `session`.

use crate::protocol::Severity;

/// Makes the list, each with its name, section, severity and meaning.
macro_rules! rules {
    ($($case:ident = $name:literal, $section:literal, $severity:ident, $about:literal);+ $(;)?) => {
        /// Names what is wrong with a line, or open at the end of a stream.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum StreamRule { $(#[doc = $about] $case),+ }

        impl StreamRule {
            /// Lists every rule.
            pub const ALL: &'static [Self] = &[$(Self::$case),+];

            /// Gives the rule's name for reports, in words joined by `_`.
            pub fn name(self) -> &'static str {
                match self { $(Self::$case => $name),+ }
            }

            /// Gives the section of AAEP that it stands in.
            pub fn section(self) -> &'static str {
                match self { $(Self::$case => $section),+ }
            }

            /// Grades it.
            pub fn severity(self) -> Severity {
                match self { $(Self::$case => Severity::$severity),+ }
            }

            /// Says in a sentence what it is.
            pub fn about(self) -> &'static str {
                match self { $(Self::$case => $about),+ }
            }
        }
    };
}

rules! {
    NotJson = "not_json", "3.8", Error, "A line is no JSON.";
    Several = "several", "3.8", Error, "A line holds more than one event, or a list of them; each is read.";
    TooDeep = "too_deep", "3.7", Error, "A line is nested so deeply that it is not read.";
    TooLong = "too_long_line", "3.7", Error, "A line is longer than hearken reads.";
    NotAaep = "not_aaep", "3.2", Error, "A line is something other than AAEP; of each kind the first is written, and the rest is counted.";
    NoType = "no_type", "3.2.2", Error, "An object names no type, so nothing says what it is.";
    NotUtf8 = "not_utf8", "3.8", Error, "A line is no UTF-8; it is read with what can't be read replaced.";
    NotAnEvent = "not_an_event", "5", Note, "A line is a message of the handshake or a reply, and no event; it is left alone.";
    Duplicate = "duplicate", "3.2.3", Note, "An event came twice, word for word; the second one is left alone.";
    Held = "held", "3.4.1", Note, "An event came before its turn by its sequence number and was put in order.";
    BeforeAsking = "invoked_before_asking", "4.3.1", Error, "An irreversible tool is invoked before anybody was asked.";
    StartMissing = "start_missing", "4.1.1", Warning, "A session is seen without its start; the capture may have begun later.";
    EndMissing = "end_missing", "4.5.1", Warning, "A session has no end; the capture may have ended before.";
    ToolOpen = "tool_open", "A.3", Warning, "A tool has not returned at the end of the stream.";
    QuestionOpen = "question_open", "6.1", Warning, "A question is not decided at the end of the stream.";
    OutputOpen = "output_open", "4.5.4", Warning, "An output has no last chunk at the end of the stream.";
}
