use super::*;

#[test]
fn harmless_sed_scripts_are_read_and_others_reported() {
    for script in [
        "s/a/b/",
        "s|/usr|/opt|g",
        "1,120p",
        "/start/,/end/p",
        "$d",
        "/^#/d; s/ *$//",
        "2q",
        "/x/!d",
    ] {
        assert_eq!(
            sed(script),
            EmbeddedCode {
                is_read: true,
                ..EmbeddedCode::default()
            },
            "{script}"
        );
    }
    for (script, act) in [
        ("w out.txt", Act::Replace),
        ("s/a/b/w out.txt", Act::Replace),
        ("s/.*/id/e", Act::Generated),
        ("1e", Act::Generated),
    ] {
        assert!(
            sed(script).acts.iter().any(|(it, _)| *it == act),
            "{script}"
        );
    }
    assert_eq!(sed("1e rm -rf x").commands, ["rm -rf x"]);
    // An ambiguous script does not count as read.
    for script in [
        "s/a",
        "k",
        "s/a/b/q",
        "s/.*/rm x [/e;s/]/;#/",
        "s/[/]/x/",
        "s/a\\/b/c/",
    ] {
        assert!(!sed(script).is_read, "{script}");
    }
}

#[test]
fn harmless_awk_programs_are_read_and_others_reported() {
    for program in [
        "{print $1}",
        "BEGIN{FS=\",\"} {s+=$2} END{print s/NR}",
        "!seen[$0]++",
    ] {
        assert_eq!(
            awk(program),
            EmbeddedCode {
                is_read: true,
                ..EmbeddedCode::default()
            },
            "{program}"
        );
    }
    assert_eq!(awk("BEGIN {system(\"rm x\")}").commands, ["rm x"]);
    assert_eq!(awk("{print | \"sh\"}").commands, ["sh"]);
    assert_eq!(
        awk("{print > \"out\"}").acts,
        [(Act::Replace, "out".to_owned())]
    );
    assert_eq!(
        awk("{print >> \"out\"}").acts,
        [(Act::Replace, "out".to_owned())]
    );
    for program in [
        "{print > $1}",
        "BEGIN{while((\"ls\" | getline l)>0) print l}",
        "{system($0)}",
        "{print | $1}",
        "@load \"x\"",
        "BEGIN{print /#/; system(\"rm x\")}",
        "BEGIN{print \"a\",\n\"b\" > \"out\"}",
    ] {
        let code = awk(program);
        assert!(!code.is_read || !code.acts.is_empty(), "{program}");
    }
}

#[test]
fn sql_queries_are_read_and_changes_reported() {
    for text in [
        "SELECT * FROM users",
        "select 'drop table x' from y;",
        ".tables",
    ] {
        assert_eq!(
            sql(text),
            EmbeddedCode {
                is_read: true,
                ..EmbeddedCode::default()
            },
            "{text}"
        );
    }
    for (text, act) in [
        ("DROP TABLE users", Act::Drop),
        ("delete from users", Act::Data),
        (
            "WITH x AS (DELETE FROM y RETURNING *) SELECT * FROM x",
            Act::Data,
        ),
        (".load x", Act::Starts),
        ("\\copy x from y", Act::Starts),
        ("select load_extension('x')", Act::Starts),
        ("COPY x TO PROGRAM 'sh'", Act::Data),
    ] {
        assert!(sql(text).acts.iter().any(|(it, _)| *it == act), "{text}");
    }
    assert_eq!(sql(".shell rm x").commands, ["rm x"]);
    assert_eq!(sql("\\! ls").commands, ["ls"]);
    assert!(!sql("frobnicate").is_read);
}
