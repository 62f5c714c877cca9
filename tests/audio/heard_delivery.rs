//! Rate, pitch, volume and voice as heard, and that other clients' are unaffected.

use hearken::config::Delivery;

use super::*;

const SENTENCE: &str = "Are you sure about our email to Laura?";

/// The measured sound of a sentence.
#[derive(Debug)]
struct MeasuredSound {
    seconds: f64,
    pitch: f64,
    loudness: f64,
}

/// Hears it twice and returns the shorter: a busy machine only makes a sentence longer.
async fn hear(
    handle: &VoiceHandle,
    events: &mut mpsc::Receiver<VoiceEvent>,
    recorder: &Recorder,
    id: u64,
    delivery: Delivery,
) -> MeasuredSound {
    let first = hear_once(handle, events, recorder, 2 * id, delivery.clone()).await;
    let second = hear_once(handle, events, recorder, 2 * id + 1, delivery).await;
    if first.seconds < second.seconds {
        first
    } else {
        second
    }
}

async fn hear_once(
    handle: &VoiceHandle,
    events: &mut mpsc::Receiver<VoiceEvent>,
    recorder: &Recorder,
    id: u64,
    delivery: Delivery,
) -> MeasuredSound {
    let asked = Instant::now();
    handle.speak(Utterance {
        sound: Sound {
            delivery,
            ..Sound::default()
        },
        ..utterance(id, SENTENCE)
    });
    said(events, id).await;
    recorder.recorded(Instant::now(), Duration::from_millis(200));
    let sound = without_stalls(&recorder.sound(asked));
    assert!(!sound.is_empty(), "it is heard");
    let energy: f64 = sound.iter().map(|sample| f64::from(*sample).powi(2)).sum();
    MeasuredSound {
        seconds: sound.len() as f64 / f64::from(RATE),
        pitch: pitch(&sound),
        loudness: (energy / sound.len() as f64).sqrt(),
    }
}

/// Removes what a busy machine inserts into a sentence without pauses: silence longer than any sound of
/// speech needs.
fn without_stalls(sound: &[i16]) -> Vec<i16> {
    let longest = usize::try_from(RATE).unwrap() / 8;
    sound
        .chunk_by(|a, b| is_loud(a) == is_loud(b))
        .filter(|run| run.first().is_some_and(is_loud) || run.len() <= longest)
        .flatten()
        .copied()
        .collect()
}

#[tokio::test]
async fn every_change_is_heard_and_undone_and_is_ours_alone() {
    let rig = SoundRig::new();
    let (handle, mut events) = open(rig.surroundings());
    ready(&mut events).await;
    let recorder = rig.record();
    let mut heard = Vec::new();
    let wishes = [
        Delivery::default(),
        Delivery {
            rate: Some(60),
            ..Delivery::default()
        },
        Delivery {
            pitch: Some(-60),
            ..Delivery::default()
        },
        Delivery {
            volume: Some(-20),
            ..Delivery::default()
        },
        Delivery {
            voice: Some("female2".to_owned()),
            ..Delivery::default()
        },
        Delivery::default(),
    ];
    for (id, wish) in (1..).zip(wishes) {
        heard.push(hear(&handle, &mut events, &recorder, id, wish).await);
    }
    eprintln!("usual, fast, low, soft, female, usual: {heard:#.2?}");
    let [usual, fast, low, soft, female, again] = &heard[..] else {
        panic!("six were asked for");
    };
    assert!(fast.seconds < usual.seconds * 0.8, "rate");
    assert!(low.pitch < usual.pitch * 0.9, "pitch");
    assert!(soft.loudness < usual.loudness * 0.8, "volume");
    assert!((female.pitch / usual.pitch - 1.0).abs() > 0.1, "voice");
    assert!((again.seconds / usual.seconds - 1.0).abs() < 0.08);
    assert!((again.pitch / usual.pitch - 1.0).abs() < 0.05);
    assert!((again.loudness / usual.loudness - 1.0).abs() < 0.15);

    // Another client on the same daemon sounds as always, while ours is changed.
    let fast = Delivery {
        rate: Some(90),
        pitch: Some(70),
        voice: Some("male3".to_owned()),
        ..Delivery::default()
    };
    hear(&handle, &mut events, &recorder, 7, fast).await;
    let (other, mut others) = open(rig.surroundings());
    ready(&mut others).await;
    let untouched = hear(&other, &mut others, &recorder, 1, Delivery::default()).await;
    eprintln!("another client: {untouched:.2?}");
    assert!((untouched.seconds / usual.seconds - 1.0).abs() < 0.08);
    assert!((untouched.pitch / usual.pitch - 1.0).abs() < 0.05);
}
