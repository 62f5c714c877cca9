//! The command `hearken`: arguments in, exit code out, errors as one line.

use std::ffi::OsString;
use std::io::Write;
use std::pin::Pin;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use clap::error::ErrorKind;
use clap_complete::CompleteEnv;
use hearken::app::Exit;
use hearken::bench::{self, BenchEnd, MeasureError};
use hearken::cli::{self, Cli, Command, Options, TraceFormat};
use hearken::doctor;
use hearken::guide;
use hearken::inspect::{Format, Verdict};
use hearken::runtime::{
    self, AgentCall, ConversationToContinue, DemoServing, OfferOutcome, OutputError, ProxyListener,
    RequestFailure,
};

fn main() -> ExitCode {
    runtime::end_on_panic();
    // Nothing that can fail or take time may come before this: an agent waits for the hook, and gives some exit codes a
    // meaning.
    let called: Vec<OsString> = std::env::args_os().skip(1).take(4).collect();
    if let [first, second, sender @ ..] = called.as_slice()
        && (first, second) == (&"hooks".into(), &"relay".into())
    {
        runtime::relay(sender);
        return ExitCode::SUCCESS;
    }
    // The shell may only be asking for names.
    if std::env::var_os(guide::VARIABLE).is_some() {
        match complete() {
            Ok(false) => {}
            Ok(true) => return ExitCode::SUCCESS,
            Err(error) => return fail(&error.into()),
        }
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return misread(&error),
    };
    if let Command::SystemVoice { nvda } = &cli.command {
        return runtime::system_voice(nvda.as_deref());
    }
    if let Command::Mcp(serving) = &cli.command {
        return match runtime::serve_tools(serving.channel) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => fail(&error),
        };
    }
    // This process must be as thin as possible.
    if let Command::AcpProxy {
        name,
        speaking,
        program,
    } = cli.command
    {
        let wanted = ProxyListener {
            name,
            program,
            speaking,
        };
        return match runtime::acp_proxy(wanted) {
            Ok(code) => ExitCode::from(code),
            Err(error) => fail(&error),
        };
    }
    // One thread for everything that waits: input from a source is reported where it arrives, without waking another
    // thread. Whatever may block (files, standard input and output, the voice) has its own thread.
    let runtime = match tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => return fail(&error.into()),
    };
    // Boxed, the future is compiled once, and not for each kind of waiting.
    let whole: Pin<Box<dyn Future<Output = anyhow::Result<Exit>>>> = Box::pin(run(cli));
    let outcome = runtime.block_on(whole);
    runtime::leave_nothing();
    // A blocking read of standard input must not prevent the program from leaving.
    runtime.shutdown_background();
    match outcome {
        Ok(exit) => ExitCode::from(exit.code()),
        Err(error) => fail(&error),
    }
}

/// Writes where something is served. If the protocol is spoken on standard output, nothing else may be.
fn announce(words: &str, pipes: bool) {
    let _ = match pipes {
        true => writeln!(std::io::stderr(), "{words}"),
        false => writeln!(std::io::stdout(), "{words}"),
    };
}

async fn run(cli: Cli) -> anyhow::Result<Exit> {
    runtime::survive_large_files()?;
    match cli.command {
        Command::Check {
            file,
            json,
            strict,
            until,
            token_env,
            token_file,
            config,
            allow_plain_http,
        } => {
            let options = Options {
                until,
                token_env,
                token_file,
                config,
                allow_plain_http,
                ..Options::default()
            };
            let phrases = runtime::phrases(options.config.as_deref())?;
            Ok(
                match runtime::check(&file, json, strict, &options, &phrases).await? {
                    Verdict::Good => Exit::Clean,
                    // Errors are a result, not a fault of the call: the same code as for a lost source.
                    Verdict::Bad => Exit::NoSource,
                    Verdict::Unusable => {
                        anyhow::bail!(
                            RequestFailure::new("call.no_event")
                                .with("name", runtime::shown(&file))
                        )
                    }
                },
            )
        }
        Command::Trace { file, format } => {
            let format = match format {
                TraceFormat::Text => Format::Text,
                TraceFormat::Mermaid => Format::Mermaid,
                TraceFormat::Json => Format::Json,
            };
            runtime::trace(&file, format, &runtime::phrases(None)?)?;
            Ok(Exit::Clean)
        }
        Command::Demo { list: true, .. } => print(runtime::list().as_bytes()),
        Command::Demo {
            scenario,
            serve,
            sign,
            options,
            ..
        } if !serve.is_empty() => {
            let pipes = serve.iter().any(|place| place == "-");
            let serving = DemoServing {
                places: serve,
                scenario,
                sign,
            };
            let words = runtime::phrases_for(options.config.as_deref(), &options.language)?;
            runtime::serve(&serving, &words, &|words| announce(words, pipes)).await
        }
        Command::Bridge(wanted) => {
            let pipes = wanted.serve.iter().any(|place| place == "-");
            let words = runtime::bridge_words(&wanted)?;
            runtime::bridge(&wanted, &words, &|words| announce(words, pipes)).await
        }
        Command::Demo {
            scenario, options, ..
        } => {
            let (plan, agent) = runtime::demo(scenario.as_deref(), &options).await?;
            let exit = runtime::run(plan).await;
            if let Some(agent) = agent {
                agent.stop().await;
            }
            exit
        }
        Command::Watch {
            sources,
            program,
            options,
        } => match runtime::offered(sources, &program, &options).await? {
            OfferOutcome::Follow(sources) => {
                runtime::run(runtime::watch(&sources, program, &options)?).await
            }
            OfferOutcome::Leave(exit) => Ok(exit),
        },
        Command::Run {
            list: true,
            options,
            ..
        } => {
            let words = runtime::phrases_for(options.config.as_deref(), &options.language)?;
            print(runtime::agents(&words)?.as_bytes())
        }
        Command::Run {
            agent,
            cwd,
            prompt,
            prompt_file,
            go_on,
            resume,
            program,
            options,
            list: _,
        } => {
            let earlier = match (go_on, resume) {
                (true, _) => ConversationToContinue::Last,
                (false, true) => ConversationToContinue::Chosen,
                (false, false) => ConversationToContinue::None,
            };
            let wanted = AgentCall {
                agent,
                program,
                folder: cwd,
                prompt,
                prompt_file,
                earlier,
            };
            runtime::run(runtime::run_agent(wanted, &options)?).await
        }
        Command::Replay {
            file,
            speed,
            no_delay,
            options,
        } => {
            runtime::run(runtime::replay(
                &file,
                (!no_delay).then_some(speed),
                &options,
            )?)
            .await
        }
        Command::Setup {
            screen_reader,
            config,
            language,
        } => {
            let words = runtime::phrases_for(config.as_deref(), &language)?;
            let reader = screen_reader.unwrap_or_default();
            runtime::set_up(config.as_deref(), reader, words).await
        }
        Command::Say {
            text,
            voice,
            config,
        } => {
            let engine = runtime::say(&text.join(" "), voice, config.as_deref()).await?;
            print(format!("Said by {engine}.\n").as_bytes())
        }
        // These have processes of their own, and were handled before.
        Command::SystemVoice { .. } | Command::AcpProxy { .. } | Command::Mcp(_) => Ok(Exit::Clean),
        Command::AcpListen { name, speaking } => runtime::acp_listen(&name, speaking).await,
        Command::AcpSpeak { name, speaking } => {
            runtime::run(runtime::acp_speak(name, speaking)?).await
        }
        Command::Bench(wanted) => {
            let request = bench::Measurement {
                sessions: wanted.sessions as usize,
                agents: wanted.agents as usize,
                questions: wanted.questions.unwrap_or_default() as usize,
                events: wanted.events as usize,
                paced: Duration::from_secs(wanted.seconds.into()),
                json: wanted.json,
            };
            match bench::run(request, runtime::phrases_for(None, &wanted.language)?).await {
                Ok(BenchEnd::Measured) => Ok(Exit::Clean),
                // An interrupt or a termination ends the measuring.
                Ok(BenchEnd::Interrupted) | Err(MeasureError::Over) => Ok(Exit::Interrupted),
                Ok(BenchEnd::Terminated) => Ok(Exit::Terminated),
                // A reader that closes the pipe has read enough.
                Err(MeasureError::Unwritten(error))
                    if error.kind() == std::io::ErrorKind::BrokenPipe =>
                {
                    Ok(Exit::Clean)
                }
                Err(MeasureError::Unwritten(error)) => Err(OutputError(error).into()),
                Err(MeasureError::Refused(error)) => Err(error.into()),
                Err(MeasureError::Failed(code)) => {
                    anyhow::bail!(RequestFailure::new("call.unmeasured").with("code", code))
                }
            }
        }
        Command::Doctor {
            sources,
            silent,
            all,
            json,
            options,
        } => {
            let request = doctor::Examination {
                sources,
                file: options.config.clone(),
                said: cli::said(std::env::args_os()),
                token_env: options.token_env.clone(),
                token_file: options.token_file.clone(),
                record: options.record.clone(),
                answers: options.answers.clone(),
                silent,
                all,
                json,
            };
            let words = runtime::phrases_for(options.config.as_deref(), &options.language)?;
            match doctor::run(
                request,
                &|config| options.apply(config),
                words,
                &mut std::io::stdout(),
            )
            .await
            {
                Ok(true) => Ok(Exit::Clean),
                // A finding that prevents work is a result, with the code of a lost source.
                Ok(false) => Ok(Exit::NoSource),
                // A reader that closes the pipe has read enough.
                Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(Exit::Clean),
                Err(error) => Err(OutputError(error).into()),
            }
        }
        Command::Hooks {
            action,
            agent,
            event,
            project,
            yes,
            language,
        } => {
            let words = runtime::phrases_for(None, &language)?;
            let request = runtime::HookRequest {
                action,
                agent,
                event,
                project,
                yes,
            };
            runtime::hooks(&request, &words)
        }
        Command::Completions { shell } => print(&guide::script(shell)?),
        Command::Man {
            page,
            dir,
            language,
        } => {
            let words = runtime::phrases_for(None, &language)?;
            if let Some(folder) = dir {
                let pages = guide::sheets(&words).into_iter();
                runtime::write_pages(&folder, pages.map(|page| (page.file, page.text)))?;
                return Ok(Exit::Clean);
            }
            match guide::sheet(page.as_deref(), &words) {
                Some(page) => print(page.text.as_bytes()),
                None => {
                    anyhow::bail!(
                        RequestFailure::new("call.page")
                            .with("name", format!("{:?}", page.unwrap_or_default()))
                    )
                }
            }
        }
    }
}

/// Answers a shell's completion request; returns whether there was one.
fn complete() -> clap::error::Result<bool> {
    let command = || {
        let arguments: Vec<OsString> = std::env::args_os().collect();
        let (file, _) = cli::asked(&arguments[arguments.len().min(2)..]);
        guide::completable(runtime::scenario_names(), move || {
            runtime::source_names(file.as_deref())
        })
    };
    let asked = CompleteEnv::with_factory(command).var(guide::VARIABLE);
    asked.try_complete(std::env::args_os(), std::env::current_dir().ok().as_deref())
}

/// Handles a call that is not a command: prints help if requested, else what is wrong.
fn misread(error: &clap::Error) -> ExitCode {
    // The version is the same in every language: no settings and no phrases are read for it.
    if error.kind() == ErrorKind::DisplayVersion {
        return printed(error, ExitCode::SUCCESS);
    }
    let code = u8::try_from(error.exit_code()).unwrap_or(Exit::UNUSABLE);
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let (file, languages) = cli::asked(&arguments);
    let words = match runtime::phrases_for(file.as_deref(), &languages) {
        Ok(words) => words,
        Err(error) => return fail(&error),
    };
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            return match guide::worded(&words).try_get_matches_from(arguments) {
                Err(told) => printed(&told, ExitCode::from(code)),
                Ok(_) => ExitCode::from(code),
            };
        }
        _ => {
            let told = guide::fault(error, &arguments, &words);
            let _ = writeln!(std::io::stderr(), "hearken: {told}");
        }
    }
    ExitCode::from(code)
}

/// Prints help or the version, and returns the code; if it can't be printed, that is a failure.
fn printed(text: &clap::Error, code: ExitCode) -> ExitCode {
    let written = text.print().and_then(|()| std::io::stdout().flush());
    match written {
        // A reader that closes the pipe has read enough.
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            fail(&OutputError(error).into())
        }
        Ok(()) | Err(_) => code,
    }
}

fn print(bytes: &[u8]) -> anyhow::Result<Exit> {
    let mut out = std::io::stdout().lock();
    let written = out.write_all(bytes).and_then(|()| out.flush());
    match written {
        // A reader that closes the pipe has read enough.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(Exit::Clean),
        written => {
            written.map_err(OutputError)?;
            Ok(Exit::Clean)
        }
    }
}

/// Writes an error with its causes as one line. Something unusable is a fault of the call: 2; incomplete output is a
/// result: 1.
fn fail(error: &anyhow::Error) -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let (file, languages) = cli::asked(&arguments);
    let told = match runtime::phrases_for(file.as_deref(), &languages) {
        Ok(words) => runtime::fault(error, &words),
        Err(_) => format!("{error:#}"),
    };
    let _ = writeln!(std::io::stderr(), "hearken: {told}");
    let code = if error.is::<OutputError>() {
        1
    } else {
        Exit::UNUSABLE
    };
    ExitCode::from(code)
}
