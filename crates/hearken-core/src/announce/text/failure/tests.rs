//! Failures found in the outputs of common programs, and in hostile ones.

use proptest::strategy::Strategy as _;

use super::*;

/// What is found in an output: how many failed of how many, their names, and the exit code.
type Found<'a> = (
    FailureUnit,
    Option<u64>,
    Option<u64>,
    &'a [&'a str],
    Option<i64>,
);

fn found(output: &str) -> Failure {
    let lines: Vec<&str> = output.split('\n').collect();
    Failure::of(lines.into_iter())
}

#[track_caller]
fn holds(rows: &[(&str, Found<'_>)]) {
    for (output, (counted, failed, total, names, code)) in rows {
        let is = found(output);
        let wanted = Failure {
            counted: *counted,
            failed: *failed,
            total: *total,
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            exit_code: *code,
            has_known_format: true,
        };
        assert_eq!(is, wanted, "{output}");
    }
}

const TESTS: FailureUnit = FailureUnit::Tests;
const ERRORS: FailureUnit = FailureUnit::Errors;

#[test]
fn tests_in_rust_are_found() {
    holds(&[
        (
            "   Compiling calc v0.1.0 (/w/calc)\n    Finished `test` profile in 0.31s\n     Running unittests src/lib.rs (target/debug/deps/calc-1)\n\nrunning 3 tests\ntest sums::adds ... FAILED\ntest sums::subtracts ... ok\ntest error_is_shown ... ok\n\nfailures:\n\n---- sums::adds stdout ----\n\nthread 'sums::adds' panicked at src/lib.rs:9:5:\nassertion `left == right` failed\n  left: 3\n right: 4\n\n\nfailures:\n    sums::adds\n\ntest result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\nerror: test failed, to rerun pass `--lib`",
            (TESTS, Some(1), Some(3), &["sums::adds"], None),
        ),
        (
            "running 2 tests\n..F\nfailures:\n\nfailures:\n    a\n    b\n\ntest result: FAILED. 10 passed; 2 failed; 1 ignored\n     Running tests/two.rs\ntest result: ok. 68 passed; 0 failed; 0 ignored",
            (TESTS, Some(2), Some(80), &["a", "b"], None),
        ),
        (
            "    Starting 80 tests across 3 binaries\n        PASS [   0.004s] calc sums::subtracts\n\u{1b}[31;1m        FAIL\u{1b}[0m [   0.005s] calc \u{1b}[36msums::\u{1b}[0madds\n     Summary [   0.120s] 80 tests run: 79 passed, \u{1b}[31m1 failed\u{1b}[0m, 0 skipped\n        FAIL [   0.005s] calc sums::adds\nerror: test run failed",
            (TESTS, Some(1), Some(80), &["sums::adds"], None),
        ),
    ]);
}

#[test]
fn tests_in_python_are_found() {
    holds(&[
        (
            "============ test session starts ============\ncollected 80 items\n\ntests/test_calc.py .F..                 [100%]\n\n=== FAILURES ===\n___ test_adds ___\n\n    def test_adds():\n>       assert 1 + 2 == 4\nE       assert (1 + 2) == 4\n\ntests/test_calc.py:4: AssertionError\n======== short test summary info ========\nFAILED tests/test_calc.py::test_adds - assert (1 + 2) == 4\nERROR tests/test_db.py::TestDb::test_opens - RuntimeError\n======== 1 failed, 77 passed, 1 skipped, 1 error in 0.12s ========",
            (
                TESTS,
                Some(2),
                Some(80),
                &["test_adds", "TestDb::test_opens"],
                None,
            ),
        ),
        (
            "F.\r\n======================================================================\r\nFAIL: test_adds (tests.test_calc.TestCalc.test_adds)\r\n----------------------------------------------------------------------\r\nTraceback (most recent call last):\r\n  File \"/w/tests/test_calc.py\", line 5, in test_adds\r\nAssertionError: 3 != 4\r\n\r\n----------------------------------------------------------------------\r\nRan 2 tests in 0.001s\r\n\r\nFAILED (failures=1)\r\n",
            (TESTS, Some(1), Some(2), &["test_adds"], None),
        ),
        (
            "Exit code 1\nTraceback (most recent call last):\n  File \"/w/a.py\", line 3, in <module>\n    main()\nValueError: no such key: 'x'\n",
            (
                TESTS,
                None,
                None,
                &["ValueError: no such key: 'x'"],
                Some(1),
            ),
        ),
    ]);
}

#[test]
fn tests_in_javascript_are_found() {
    holds(&[
        (
            "> calc@1.0.0 test\n> jest\n\n\u{1b}[0m\u{1b}[7m\u{1b}[1m\u{1b}[31m FAIL \u{1b}[39m\u{1b}[22m\u{1b}[27m\u{1b}[0m src/sum.test.js\n  sums\n    ✕ adds numbers (2 ms)\n    ✓ subtracts\n\n  ● sums › adds numbers\n\n    expect(received).toBe(expected)\n\n    Expected: 4\n    Received: 3\n\n      at Object.<anonymous> (src/sum.test.js:4:18)\n\nTest Suites: 1 failed, 3 passed, 4 total\nTests:       1 failed, 79 passed, 80 total\nSnapshots:   0 total\nTime:        0.5 s\nRan all test suites.",
            (TESTS, Some(1), Some(80), &["sums, adds numbers"], None),
        ),
        (
            " FAIL  src/a.test.js\n  ● Test suite failed to run\n\n    Cannot find module './b'\n\nTest Suites: 1 failed, 1 total\nTests:       0 total",
            (TESTS, Some(1), None, &["Test suite failed to run"], None),
        ),
        (
            " RUN  v2.1.8 /w\n\n ❯ test/sum.test.ts (2 tests | 1 failed) 5ms\n   × sums > adds numbers 3ms\n\n⎯⎯⎯ Failed Tests 1 ⎯⎯⎯\n\n FAIL  test/sum.test.ts > sums > adds numbers\nAssertionError: expected 3 to be 4\n\n Test Files  1 failed | 2 passed (3)\n      Tests  1 failed | 79 passed (80)\n   Start at  10:11:12\n   Duration  312ms",
            (TESTS, Some(1), Some(80), &["sums, adds numbers"], None),
        ),
        (
            "\n  sums\n    1) adds numbers\n    ✔ subtracts\n\n\n  79 passing (12ms)\n  1 failing\n\n  1) sums\n       adds numbers:\n\n      AssertionError: 3 == 4\n      at Context.<anonymous> (test/sum.js:5:12)",
            (TESTS, Some(1), Some(80), &["sums adds numbers"], None),
        ),
        (
            "▶ sums\n  ✖ adds numbers (0.9ms)\n  ✔ subtracts (0.1ms)\n✖ sums (1.5ms)\nℹ tests 80\nℹ suites 1\nℹ pass 79\nℹ fail 1\n\n✖ failing tests:\n\ntest at test.mjs:4:3\n✖ adds numbers (0.9ms)\n  AssertionError [ERR_ASSERTION]: 3 == 4",
            (TESTS, Some(1), Some(80), &["adds numbers"], None),
        ),
        (
            "bun test v1.1.0\n\nsum.test.ts:\n(pass) sums > subtracts [0.1ms]\n(fail) sums > adds [0.25ms]\n\n 79 pass\n 1 fail\n 80 expect() calls\nRan 80 tests across 1 files. [8.00ms]",
            (TESTS, Some(1), Some(80), &["sums, adds"], None),
        ),
        (
            "\n/w/src/a.js\n  3:5   error    'x' is assigned a value but never used  no-unused-vars\n  9:1   warning  Unexpected console statement            no-console\n\n✖ 2 problems (1 error, 1 warning)\n",
            (
                ERRORS,
                Some(1),
                None,
                &["'x' is assigned a value but never used"],
                None,
            ),
        ),
    ]);
}

#[test]
fn tests_by_the_test_anything_protocol_are_found() {
    holds(&[
        (
            "TAP version 13\n# Subtest: sums\n    # Subtest: adds numbers\n    not ok 1 - adds numbers\n      ---\n      duration_ms: 0.9\n      error: '3 == 4'\n      ...\n    ok 2 - subtracts\n    1..2\nnot ok 1 - sums\n1..1\n# tests 80\n# suites 1\n# pass 79\n# fail 1",
            (TESTS, Some(1), Some(80), &["adds numbers"], None),
        ),
        (
            "1..4\nok 1 - opens\nnot ok 2 - closes # TODO not yet\nnot ok 3 - reads\nok 4 - writes # SKIP no disk\n",
            (TESTS, Some(1), Some(4), &["reads"], None),
        ),
        (
            "okay, here it goes\nok 1\nnot ok 2\n",
            (TESTS, Some(1), Some(2), &["not ok 2"], None),
        ),
    ]);
}

#[test]
fn tests_in_go_are_found() {
    holds(&[
        (
            "--- FAIL: TestSums (0.00s)\n    --- FAIL: TestSums/adds (0.00s)\n        sum_test.go:9: got 3, want 4\nFAIL\nFAIL\texample.com/calc\t0.003s\nok  \texample.com/other\t0.002s\nFAIL",
            (TESTS, Some(1), None, &["TestSums/adds"], None),
        ),
        (
            "=== RUN   TestAdds\n    sum_test.go:9: got 3, want 4\n--- FAIL: TestAdds (0.00s)\n=== RUN   TestSubtracts\n--- PASS: TestSubtracts (0.00s)\nFAIL\nexit status 1\nFAIL\tcalc\t0.003s",
            (TESTS, Some(1), Some(2), &["TestAdds"], Some(1)),
        ),
        (
            "panic: runtime error: index out of range [3] with length 3\n\ngoroutine 1 [running]:\nmain.main()\n\t/w/main.go:5 +0x1d\nexit status 2",
            (
                TESTS,
                None,
                None,
                &["panic: runtime error: index out of range [3] with length 3"],
                Some(2),
            ),
        ),
    ]);
}

#[test]
fn numbered_and_counted_tests_are_found() {
    holds(&[
        (
            "Exit code 2\nCompiling 60 files (.ex)\n.\n\n  1) test adds numbers (MathTest)\n     test/math_test.exs:7\n     Assertion with == failed\n     code:  assert 3 == 4\n\n....\nFinished in 0.05 seconds\n1 doctest, 79 tests, 1 failure\n",
            (TESTS, Some(1), Some(80), &["test adds numbers"], Some(2)),
        ),
        (
            "F.\n\nFailures:\n\n  1) Calc adds numbers\n     Failure/Error: expect(3).to eq 4\n\nFinished in 0.01 seconds\n80 examples, 1 failure\n\nFailed examples:\n\nrspec ./spec/calc_spec.rb:3 # Calc adds numbers",
            (TESTS, Some(1), Some(80), &["Calc adds numbers"], None),
        ),
        (
            "  1) Failure:\nTestCalc#test_adds [test/calc_test.rb:5]:\nExpected: 4\n  Actual: 3\n\n80 runs, 90 assertions, 1 failures, 0 errors, 0 skips",
            (TESTS, Some(1), Some(80), &["TestCalc#test_adds"], None),
        ),
        (
            "[INFO] Running com.x.CalcTest\n[ERROR] Tests run: 2, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.05 s <<< FAILURE! -- in com.x.CalcTest\n[ERROR] com.x.CalcTest.adds -- Time elapsed: 0.01 s <<< FAILURE!\n[ERROR] Tests run: 80, Failures: 1, Errors: 0, Skipped: 0\n[INFO] BUILD FAILURE",
            (TESTS, Some(1), Some(80), &["com.x.CalcTest.adds"], None),
        ),
        (
            "CalcTest > adds() FAILED\n    org.opentest4j.AssertionFailedError at CalcTest.java:9\n\n80 tests completed, 1 failed\n",
            (TESTS, Some(1), Some(80), &["adds()"], None),
        ),
        (
            "There was 1 failure:\n\n1) CalcTest::testAdds\nFailed asserting that 3 matches expected 4.\n\nFAILURES!\nTests: 80, Assertions: 90, Failures: 1.",
            (TESTS, Some(1), Some(80), &["CalcTest::testAdds"], None),
        ),
        (
            "  Failed Calc.Adds [5 ms]\n  Error Message:\n   Assert.Equal() Failure\nFailed!  - Failed:     1, Passed:    79, Skipped:     0, Total:    80, Duration: 9 ms",
            (TESTS, Some(1), Some(80), &["Calc.Adds"], None),
        ),
        (
            "99% tests passed, 1 tests failed out of 80\n\nTotal Test time (real) =   0.12 sec\n\nThe following tests FAILED:\n\t  2 - adds (Failed)\nErrors while running CTest",
            (TESTS, Some(1), Some(80), &["adds"], None),
        ),
    ]);
}

#[test]
fn errors_of_compilers_are_found() {
    holds(&[
        (
            "   Compiling calc v0.1.0 (/w)\n\u{1b}[0m\u{1b}[1m\u{1b}[38;5;9merror[E0308]\u{1b}[0m\u{1b}[0m\u{1b}[1m: mismatched types\u{1b}[0m\n \u{1b}[38;5;12m--> \u{1b}[0msrc/main.rs:2:18\n  |\n2 |     let x: i32 = \"a\";\n\nerror: cannot find macro `printn` in this scope\n --> src/main.rs:3:5\n\nFor more information about this error, try `rustc --explain E0308`.\nerror: could not compile `calc` (bin \"calc\") due to 2 previous errors; 1 warning emitted",
            (
                ERRORS,
                Some(2),
                None,
                &[
                    "mismatched types, src/main.rs:2",
                    "cannot find macro `printn` in this scope, src/main.rs:3",
                ],
                None,
            ),
        ),
        (
            "gcc -c main.c\nmain.c: In function 'main':\nmain.c:3:5: error: expected ';' before 'return'\n    3 |     return 0\nmain.c:9:1: warning: unused\nmake: *** [Makefile:3: main.o] Error 1",
            (
                ERRORS,
                Some(1),
                None,
                &["expected ';' before 'return', main.c:3"],
                None,
            ),
        ),
        (
            "/usr/bin/ld: main.o: in function `main':\nmain.c:(.text+0x5): undefined reference to `foo'\ncollect2: error: ld returned 1 exit status\nmake: *** [Makefile:3: all] Error 1",
            (
                ERRORS,
                Some(1),
                None,
                &["undefined reference to `foo'"],
                None,
            ),
        ),
        (
            "src/a.ts(3,5): error TS2322: Type 'string' is not assignable to type 'number'.\nsrc/b.ts(1,1): error TS2304: Cannot find name 'x'.\n",
            (
                ERRORS,
                Some(2),
                None,
                &[
                    "Type 'string' is not assignable to type 'number', src/a.ts:3",
                    "Cannot find name 'x', src/b.ts:1",
                ],
                None,
            ),
        ),
        (
            "\u{1b}[96msrc/a.ts\u{1b}[0m:\u{1b}[93m3\u{1b}[0m:\u{1b}[93m5\u{1b}[0m - \u{1b}[91merror\u{1b}[0m\u{1b}[90m TS2322: \u{1b}[0mType 'string' is not assignable to type 'number'.\n\n3 let x: number = 'a'\n\nFound 3 errors in 2 files.",
            (
                ERRORS,
                Some(3),
                None,
                &["Type 'string' is not assignable to type 'number', src/a.ts:3"],
                None,
            ),
        ),
        (
            "# example.com/calc\n./main.go:5:2: undefined: x\n./main.go:6:2: undefined: y\n",
            (
                ERRORS,
                Some(2),
                None,
                &["undefined: x, ./main.go:5", "undefined: y, ./main.go:6"],
                None,
            ),
        ),
        (
            "calc.py:3: error: Incompatible types in assignment  [assignment]\nFound 1 error in 1 file (checked 4 source files)",
            (
                ERRORS,
                Some(1),
                None,
                &["Incompatible types in assignment  [assignment], calc.py:3"],
                None,
            ),
        ),
        (
            "    error: undefined variable \"x\"\n    │\n  3 │     x\n    │     ^\n    │\n    └─ lib/a.ex:3:5: A.f/0\n\n== Compilation error in file lib/a.ex ==\n** (CompileError) lib/a.ex: cannot compile module A",
            (
                ERRORS,
                Some(1),
                None,
                &["undefined variable \"x\", lib/a.ex:3"],
                None,
            ),
        ),
    ]);
}

#[test]
fn of_any_other_output_the_telling_lines_are_kept() {
    for (output, names, code) in [
        (
            "> calc@1.0.0 deploy\n> ./deploy.sh\n\nuploading 10%\ruploading 60%\ruploading 100%\nfatal: could not read from remote repository.\n\nPlease make sure you have the correct access rights.\nnpm ERR! code ELIFECYCLE\nnpm ERR! errno 128\nnpm ERR! A complete log of this run can be found in: /x",
            vec![
                "fatal: could not read from remote repository.",
                "Please make sure you have the correct access rights.",
            ],
            None,
        ),
        (
            "Exit code 127\nbash: foo: command not found",
            vec!["bash: foo: command not found"],
            Some(127),
        ),
        ("one\ntwo\nthree\n-----\n\n", vec!["three"], None),
        ("10%\r20%\r30%", vec!["30%"], None),
        ("npm error code 1", vec!["npm error code 1"], None),
        ("===\n---\n", vec![], None),
        ("", vec![], None),
    ] {
        let is = found(output);
        assert_eq!(
            (is.names, is.exit_code),
            (names.iter().map(|it| (*it).to_owned()).collect(), code),
            "{output}"
        );
        assert!(!is.has_known_format, "{output}");
    }
}

#[test]
fn an_output_without_a_failure_is_of_no_known_format() {
    for output in [
        "test result: ok. 80 passed; 0 failed; 0 ignored",
        "===== 80 passed in 0.12s =====",
        "Tests:       80 passed, 80 total",
        "ok 1 - adds\n1..1\n# fail 0",
        "80 tests, 0 failures",
        "[INFO] Tests run: 80, Failures: 0, Errors: 0, Skipped: 0",
        "error: no such command: `tset`",
        "I failed to find 2 errors in this text, see a:b: error: here.",
    ] {
        assert!(!found(output).has_known_format, "{output}");
    }
}

#[test]
fn a_million_hostile_lines_are_bounded_work() {
    let began = std::time::Instant::now();
    for line in [
        "not ok 1 - a",
        "\u{1b}[\u{1b}[\u{1b}]",
        "1) ",
        "error: a --> b:1:2: error: c(1,2): error d: .go:1: : ",
        "test  ... FAILED",
        "--- FAIL: a/b/c (0.00s)",
        "FAILED a.py::",
        "\u{0}\u{202e}ä(((((1)))))",
    ] {
        let lines = vec![line; 1_000_000];
        let is = Failure::of(lines.into_iter());
        assert!(is.names.len() <= MOST_NAMES);
        let long = line.repeat(2_000_000 / line.len().max(1));
        let is = Failure::of([long.as_str(), "\r\r\r", long.as_str()].into_iter());
        assert!(
            is.names
                .iter()
                .all(|name| name.chars().count() <= LONGEST_NAME)
        );
    }
    assert!(began.elapsed().as_secs() < 60, "{:?}", began.elapsed());
}

proptest::proptest! {
    /// Whatever pieces an output consists of, nothing panics, and what is found is bounded.
    #[test]
    fn nothing_panics(pieces in proptest::collection::vec(
        proptest::prop_oneof![
            "[ -~]{0,6}", "\\PC{0,3}",
            proptest::sample::select(vec![
                "\n", "\r", "\t", "    ", "not ok ", "ok 1 - ", "# fail ", "error", "error[", "]: ", "): error ", "(", ")",
                "FAIL [", "test ", " ... FAILED", "test result: ", "Tests:", " failed", " total", "● ", "✖ ", "ℹ fail ",
                "--- FAIL: ", "1) ", "2 tests, ", "3 failures", "Ran 2 tests", "FAILED (", "failures=", " in ", "1s",
                "Tests run: 1", "Failures:", " failed out of ", ".go:", ": error: ", " - error TS", "99999999999",
                "Traceback (most recent call last):", "thread 'a' panicked at ", "goroutine ", "panic: ", "exit code ",
                "  --> ", " failing", " passing", "(fail) ", " › ", "\u{1b}[", "\u{1b}]", "ä", "Failure:", "Found ",
            ]).prop_map(str::to_owned),
        ], 0..40,
    )) {
        let output = pieces.concat();
        let is = found(&output);
        proptest::prop_assert!(is.names.len() <= MOST_NAMES);
        if let (Some(failed), Some(total)) = (is.failed, is.total) {
            proptest::prop_assert!(failed > 0 && failed <= total);
        }
    }
}
