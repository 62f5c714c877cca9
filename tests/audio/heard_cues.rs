//! The short sounds before the program's own words, as heard.

use hearken::announce::Cue;

use super::*;

/// Puts a player on the rig's path that plays into the rig's sound server.
fn player(rig: &SoundRig) -> VoiceEnvironment {
    let path = rig.folder.join("bin/pacat");
    let script = format!(
        "#!/bin/sh\nPULSE_SERVER={} HOME={} exec /usr/bin/pacat \"$@\"\n",
        rig.pulse_address(),
        rig.folder.join("home").display()
    );
    std::fs::write(&path, script).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    VoiceEnvironment {
        path: Some(rig.folder.join("bin").into_os_string()),
        ..rig.surroundings()
    }
}

fn cued(id: u64, cue: Cue) -> Utterance {
    Utterance {
        sound: Sound::default().with(Some(cue)),
        ..utterance(id, "hello")
    }
}

/// Returns the frequency of a pure tone: from the median time between rising zero crossings, so that a moment for which
/// the sound server delivered no sample counts at most once.
fn hertz(sound: &[i16]) -> f64 {
    let rises: Vec<usize> = sound
        .windows(2)
        .enumerate()
        .filter(|(_, pair)| pair[0] < 0 && pair[1] >= 0)
        .map(|(at, _)| at)
        .collect();
    let mut periods: Vec<usize> = rises.windows(2).map(|pair| pair[1] - pair[0]).collect();
    periods.sort_unstable();
    f64::from(RATE) / periods[periods.len() / 2] as f64
}

/// Returns how many milliseconds of it are audible.
fn audible(sound: &[i16]) -> usize {
    sound
        .chunks(RATE as usize / 1000)
        .filter(|part| part.iter().any(is_loud))
        .count()
}

#[tokio::test]
async fn a_cue_is_heard_before_its_words_and_a_tick_alone() {
    let rig = SoundRig::new();
    let (handle, mut events) = open(player(&rig));
    ready(&mut events).await;
    let recorder = rig.record();

    let asked = Instant::now();
    handle.speak(cued(1, Cue::Question));
    begun(&mut events, 1).await;
    let begun_after = asked.elapsed();
    assert_eq!(next(&mut events).await, VoiceEvent::Ended(UtteranceId(1)));
    recorder.recorded(Instant::now(), Duration::from_millis(150));
    let first = *recorder.loud(asked).first().expect("it is heard") - asked;
    let sound = recorder.sound(asked);
    let tone = hertz(&sound[..RATE as usize * 50 / 1000]);
    eprintln!(
        "question: first sound after {first:?}, its tone {tone:.0} Hz, the words begin after {begun_after:?}"
    );
    assert!((tone - 660.0).abs() < 40.0, "{tone} Hz");
    assert!(begun_after < Duration::from_millis(1500), "{begun_after:?}");
    assert!(sound.len() > RATE as usize * 4 / 10, "the words follow");

    let asked = Instant::now();
    handle.speak(cued(2, Cue::Tick));
    said(&mut events, 2).await;
    recorder.recorded(Instant::now(), Duration::from_millis(600));
    let tick = recorder.sound(asked);
    let millis = audible(&tick);
    eprintln!("tick: {millis} ms, {:.0} Hz", hertz(&tick));
    assert!((5..60).contains(&millis), "{millis} ms: no word with it");
}

#[tokio::test]
async fn a_stop_silences_a_cue() {
    let rig = SoundRig::new();
    let (handle, mut events) = open(player(&rig));
    ready(&mut events).await;
    let recorder = rig.record();
    for id in 1..=5 {
        handle.speak(cued(id, Cue::Error));
        let asked = Instant::now();
        until("the cue", || !recorder.loud(asked).is_empty());
        let stopped = Instant::now();
        handle.stop();
        assert_eq!(next(&mut events).await, VoiceEvent::Cut(UtteranceId(id)));
        recorder.recorded(stopped, Duration::from_millis(500));
        let last = recorder.loud(stopped).last().copied();
        let silent = last.map_or(Duration::ZERO, |last| last - stopped);
        assert!(silent < Duration::from_millis(100), "{silent:?}");
    }
}
