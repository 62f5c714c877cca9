use std::io::Cursor;

use super::*;

fn lines_of(text: impl Into<Vec<u8>>) -> Vec<Option<String>> {
    let (sender, facts) = sync_channel(MOST_WAITING);
    let input = Cursor::new(text.into());
    let reader = thread::spawn(move || read_lines(input, &sender));
    let mut lines = Vec::new();
    while let Ok(McpFact::Line(line)) = facts.recv() {
        lines.push(line);
    }
    reader.join().unwrap();
    lines
}

#[test]
fn a_line_that_is_too_long_is_skipped_and_the_next_one_is_read() {
    assert_eq!(
        lines_of("a\nb"),
        [Some("a\n".to_owned()), Some("b".to_owned())]
    );
    let mut long = vec![b'x'; usize::try_from(LONGEST_LINE).unwrap() + 70_000];
    long.extend_from_slice(b"\nb\n");
    assert_eq!(lines_of(long), [None, Some("b\n".to_owned())]);
}

#[test]
fn prompts_that_come_again_are_passed_on_once() {
    let said = json!({"from": 3, "prompts": ["a", "b"]});
    assert_eq!(new_prompts(&said, 3), ["a", "b"]);
    assert_eq!(new_prompts(&said, 4), ["b"]);
    assert!(new_prompts(&said, 5).is_empty());
    assert!(new_prompts(&json!({}), 0).is_empty());
    // Another hearken counts from the beginning of what it knows.
    assert_eq!(new_prompts(&json!({"from": 9, "prompts": ["c"]}), 3), ["c"]);
}

#[test]
fn without_a_listening_hearken_a_tool_says_so_and_nothing_waits() {
    let folder = tempfile::tempdir().unwrap();
    let lines = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call",
            "params": {"name": "announce", "arguments": {"text": "hello"}}}),
    ];
    let lines = lines.map(|it| it.to_string() + "\n").concat();
    let (mut agent, input) = std::io::pipe().map(|(read, write)| (write, read)).unwrap();
    agent.write_all(lines.as_bytes()).unwrap();
    let (output, mut written) = {
        let (read, write) = std::io::pipe().unwrap();
        (write, BufReader::new(read))
    };
    let path = folder.path().to_owned();
    let served = thread::spawn(move || {
        let mut output = output;
        serve(&path, false, input, &mut output)
    });
    let mut said = Vec::new();
    for _ in 0..2 {
        let mut line = String::new();
        written.read_line(&mut line).unwrap();
        said.push(serde_json::from_str::<Value>(&line).unwrap());
    }
    let result = &said[1]["result"];
    assert_eq!(result["isError"], true);
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("hearken is not running here"), "{text}");
    drop(agent);
    served.join().unwrap().unwrap();
}
