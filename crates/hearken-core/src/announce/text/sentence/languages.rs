//! What the boundary finder knows about individual languages: abbreviations, words that start sentences,
//! writing habits.
//!
//! Responsibilities: the table and the search in it. Not here: how the entries are used (`mark_rules`).
//! A list is one string with spaces between its words, all in lower case and without their last full stop; the
//! search ignores case.

use std::sync::LazyLock;

use foldhash::{HashMap, HashMapExt};

/// How an abbreviation behaves before a full stop and a space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Abbreviation {
    /// Never ends a sentence: a title before a name, "e.g.", "vs.".
    Never,
    /// An abbreviation only before a number ("No. 5", "p. 55"); otherwise it is a word or a letter.
    Numbered,
    /// Ends a sentence only before a word that starts one ("Co. It closed").
    Inner,
    /// Ends a sentence before any capital ("etc. Then").
    Outer,
}

/// The data of one language.
struct Source {
    /// The primary subtags that select it.
    tags: &'static [&'static str],
    never: &'static str,
    numbered: &'static str,
    inner: &'static str,
    outer: &'static str,
    /// Words that start a sentence after an abbreviation; also the evidence against "12. Juni".
    starters: &'static str,
    /// Words that neither end a separate line nor precede the next item's number.
    connectors: &'static str,
    /// Words that open a sentence that has no verb yet ("At 5 a.m. Mr. Smith went").
    openers: &'static str,
    /// Whether a full stop after a number of one or two digits makes it an ordinal.
    ordinals: bool,
    /// Whether a sentence may start with a lower-case letter.
    small_starts: bool,
    /// Whether long sentences are chained by commas, at which they may be cut.
    comma_chains: bool,
}

/// Titles and abbreviations that agents use in any language.
const COMMON: Source = Source {
    tags: &[],
    never: "mr mrs ms dr prof mt st ft e.g i.e eg ie vs cf viz approx ph.d.s",
    numbered: "no nos n° nº nr p pp vol vols fig figs sec ch art eq ver ed tel ext ca ln jan \
            feb mar apr jun jul aug sep sept oct nov dec",
    inner: "inc ltd co corp jr sr bros plc llc dept est",
    outer: "etc",
    starters: "",
    connectors: "",
    openers: "",
    ordinals: false,
    small_starts: false,
    comma_chains: false,
};

const PLAIN: Source = Source {
    tags: &[],
    never: "",
    numbered: "",
    inner: "",
    outer: "",
    starters: "",
    connectors: "",
    openers: "",
    ordinals: false,
    small_starts: false,
    comma_chains: false,
};

/// The languages; the first is also used if none is named.
const LANGUAGES: &[Source] = &[
    Source {
        tags: &["en"],
        never: "messrs mmes rev hon gen col lt sgt capt cmdr adm maj gov sen rep pres supt det \
            insp fr incl excl resp",
        numbered: "par para paras chap chaps app ex eqn eqs tab mon tue tues wed thu thurs fri sat \
            sun ref refs lv op pt pts",
        inner: "al assn assoc ave blvd rd hwy pkwy sq bldg apt dist univ govt intl mfg min max \
            misc esq hrs mins secs lb lbs oz yd hr fla calif mass tex wash ariz colo conn \
            minn tenn va",
        outer: "",
        starters: "a an the this that these those it he she they we you i my his her its our your \
            their there here who what when where why how which whose if as in on at by for \
            from with after before while since because although though but and or so then \
            thus however therefore moreover also finally first second third next now today \
            yesterday tomorrow no yes not please let let's do does did is are was were can \
            could should would shall must have has had each every all some any many most \
            several both either neither one two three another other such once until unless \
            despite during through instead meanwhile later still just only perhaps maybe \
            it's that's there's i'm i've i'll we'll we've they're he's she's don't even \
            nothing everyone someone nobody",
        connectors: "a an the of to in on at by for from with and or but is are was were be than as \
            that this into version versions step steps chapter section page line lines \
            figure table number node python java level part phase stage least most about \
            only equals between = + - * / < > & ==",
        openers: "at by around about before after until till from since near on past between in \
            the of exactly just nearly almost every each that this morning afternoon evening \
            night day week",
        ..PLAIN
    },
    Source {
        tags: &["es"],
        never: "sr sra srta sres sras d dña dra dres lic ing arq ud uds vd vds profa gral cap \
            tte cnel sgto mons fr excmo excma ilmo ilma ee ff rr jj aa admón avda av p.ej ej",
        numbered: "núm num núms pág págs pag párr párrf arts cra cl ene abr may ago set dic lun mié \
            mier jue vie sáb dom izq der apdo cód inc lib tít",
        inner: "cía hnos s.a s.l hs km dpto depto prov",
        outer: "uu",
        starters: "el la los las un una él ella ellos esto este esta eso y pero en por para con si \
            no sí cuando como qué quién cómo dónde luego después también se es yo",
        connectors: "de del a al en con por para y o el la los las un una que es versión paso \
            capítulo página",
        ..PLAIN
    },
    Source {
        tags: &["de"],
        never: "hr fr frl med jur phil rer nat dipl ing mag bzw bspw bsp ggf evtl inkl exkl vgl \
            sog sogen zzgl abzgl insb insbes kath evang geb gest gegr ehem allg bes betr bez \
            str hl z.b u.a d.h z.t i.d.r o.ä s z u d i v o m a rd stellv versch österr \
            schweiz dt engl franz lat griech russ mio mrd tsd",
        numbered: "kap abb abs bd bde aufl anm jg jh hrsg nrn ziff lit mär mai okt dez rn sp z",
        inner: "gmbh ag kg e.v std sek max min",
        outer: "usw usf uvm",
        starters: "der die das ein eine er sie es wir ihr ich du dies diese dieser dieses und aber \
            oder doch dann danach dort hier in im am an auf mit für von vor nach wenn weil \
            als da so was wer wo wie warum man nicht nun jetzt heute auch nur zudem außerdem \
            jedoch bitte ist sind hat haben kann alle beide",
        connectors: "der die das des dem den ein eine einer von vom zu zum zur in im am an auf mit \
            für und oder ist als bis ab version schritt kapitel seite zeile",
        ordinals: true,
        ..PLAIN
    },
    Source {
        tags: &["fr"],
        never: "m mm mme mmes mlle mlles me mgr dr pr p.ex c.-à-d ex env boul av ll aa ii rr",
        numbered: "n chap fasc janv févr fév avr juil sept déc t al éd coll par",
        inner: "cie sté s.a s.a.r.l ets apr av",
        outer: "",
        starters: "le la les un une il elle ils elles on nous vous je tu ce cet cette ces et mais \
            ou donc puis ensuite dans sur avec pour par si quand comme que qui où comment \
            pourquoi en à c'est il ensuite aussi enfin",
        connectors: "le la les un une de des du à au aux en dans sur avec pour par et ou que est \
            version étape chapitre page ligne",
        ..PLAIN
    },
    Source {
        tags: &["it"],
        never: "sig sigg dott dr avv ing arch geom rag on mons ecc es p.es sig.ra dott.ssa \
            psicol dir amm spett egr",
        numbered: "pag pagg cap fig tab gen mag giu lug ago set ott dic",
        inner: "s.p.a s.r.l",
        outer: "",
        starters: "il lo la i gli le un una questo questa è ma e poi se non in per con",
        connectors: "di a da in con su per e o il la versione passo",
        ..PLAIN
    },
    Source {
        tags: &["pt"],
        never: "sr sra srta dra profa exmo exma d av p.ex",
        numbered: "nº pág págs cap fev abr mai ago set out dez",
        inner: "cia ltda s.a",
        outer: "",
        starters: "o a os as um uma ele ela eles isto isso este esta mas e em se não depois também",
        connectors: "de do da a ao em no na com por para e ou versão passo",
        ..PLAIN
    },
    Source {
        tags: &["nl"],
        never: "dhr mevr mw drs ir mr bijv bv o.a d.w.z m.b.t t.o.v enz evt incl resp",
        numbered: "blz nr hfst afb mrt mei okt",
        inner: "b.v n.v",
        outer: "",
        starters: "de het een hij zij ze wij we ik jij dit dat deze die en maar of dan daar hier in \
            op als",
        connectors: "de het een van in op met voor en of is versie stap",
        ..PLAIN
    },
    Source {
        tags: &["ru", "uk", "bg", "be"],
        never: "г гг им ул т.е т.к т.н напр проф акад гр св см ср тов пр тыс млн млрд вул м див \
            журн чл нар вид пл пгт просп",
        numbered: "стр стор рис гл табл п пп ст д кв с янв фев апр авг сент окт нояб дек",
        inner: "руб коп в вв р рр год хв т.д т.п др",
        outer: "",
        starters: "он она оно они мы вы я это этот эта в на и но а если когда что как затем потом \
            также не по",
        connectors: "в на с из от до по и или версия шаг",
        ..PLAIN
    },
    Source {
        tags: &[
            "pl", "cs", "sk", "hr", "sl", "sr", "bs", "hu", "fi", "da", "nb", "nn", "no", "is",
            "et", "lv", "tr",
        ],
        never: "np tzn tzw m.in inż mgr ul św tj např napr tzv ing skt mudr judr f.eks bl.a dvs \
            kl esim örn pl",
        numbered: "str rys nr rozdz č s obr kap",
        ordinals: true,
        ..PLAIN
    },
    Source {
        tags: &["el"],
        never: "κ κα κος κκ δρ π.χ δηλ βλ αρ καθ π.μ μ.μ λ.χ",
        numbered: "σελ σ εικ κεφ αρ άρθ τ",
        inner: "κ.ά κ.λπ κλπ α.ε",
        small_starts: true,
        ..PLAIN
    },
    Source {
        tags: &["ar", "fa", "ur"],
        never: "د أ م ص ج س هـ ا.د أ.د",
        comma_chains: true,
        ..PLAIN
    },
    Source {
        tags: &["hy"],
        ..PLAIN
    },
    Source {
        tags: &["zh", "ja", "ko", "th", "hi", "mr", "am", "my"],
        ..PLAIN
    },
];

/// What is known about one word.
#[derive(Debug, Clone, Copy, Default)]
struct Entry {
    abbreviation: Option<Abbreviation>,
    starts: bool,
    connects: bool,
    opens: bool,
}

/// The data of one language, ready for searching.
#[derive(Debug)]
pub(super) struct Language {
    tags: &'static [&'static str],
    words: HashMap<&'static str, Entry>,
    /// Whether a full stop after a number of one or two digits makes it an ordinal.
    pub ordinals: bool,
    /// Whether a sentence may start with a lower-case letter.
    pub small_starts: bool,
    /// Whether long sentences are chained by commas, at which they may be cut.
    pub comma_chains: bool,
}

/// The tables, built on first use; the last one contains only the common abbreviations.
static TABLES: LazyLock<Vec<Language>> = LazyLock::new(|| {
    LANGUAGES
        .iter()
        .chain([&PLAIN])
        .map(Language::make)
        .collect()
});

/// The maximum length of a word in the lists, in bytes.
const LONGEST: usize = 24;

impl Language {
    fn make(source: &Source) -> Self {
        let mut words: HashMap<&'static str, Entry> = HashMap::new();
        // A language's own reading of an abbreviation takes precedence over the common one.
        for source in [source, &COMMON] {
            for (list, kind) in [
                (source.never, Abbreviation::Never),
                (source.inner, Abbreviation::Inner),
                (source.numbered, Abbreviation::Numbered),
                (source.outer, Abbreviation::Outer),
            ] {
                for word in list.split_ascii_whitespace() {
                    let entry = words.entry(word).or_default();
                    entry.abbreviation = entry.abbreviation.or(Some(kind));
                }
            }
        }
        for word in source.starters.split_ascii_whitespace() {
            words.entry(word).or_default().starts = true;
        }
        for word in source.connectors.split_ascii_whitespace() {
            words.entry(word).or_default().connects = true;
        }
        for word in source.openers.split_ascii_whitespace() {
            words.entry(word).or_default().opens = true;
        }
        Self {
            tags: source.tags,
            words,
            ordinals: source.ordinals,
            small_starts: source.small_starts,
            comma_chains: source.comma_chains,
        }
    }

    /// Returns the table for a BCP 47 tag; an unknown tag gets only the common abbreviations.
    pub(super) fn of(tag: Option<&str>) -> &'static Language {
        let primary = match tag {
            Some(tag) => tag.split(['-', '_']).next().unwrap_or(tag),
            None => "en",
        };
        let named = |language: &&Language| {
            language
                .tags
                .iter()
                .any(|t| t.eq_ignore_ascii_case(primary))
        };
        TABLES
            .iter()
            .find(named)
            .unwrap_or(&TABLES[TABLES.len() - 1])
    }

    /// Returns the entry of a word, ignoring case; a curly apostrophe counts as a straight one.
    fn entry(&self, word: &str) -> Entry {
        let found = if word.len() > LONGEST {
            None
        } else if word.is_ascii() {
            let mut folded = [0; LONGEST];
            let folded = &mut folded[..word.len()];
            folded.copy_from_slice(word.as_bytes());
            folded.make_ascii_lowercase();
            std::str::from_utf8(folded)
                .ok()
                .and_then(|folded| self.words.get(folded))
        } else {
            let folded = word.to_lowercase().replace('’', "'");
            self.words.get(folded.as_str())
        };
        found.copied().unwrap_or_default()
    }

    /// Returns what kind of abbreviation a word before a full stop is, if any; `word` has no last full stop.
    pub(super) fn abbreviation(&self, word: &str) -> Option<Abbreviation> {
        self.entry(word).abbreviation
    }

    /// Returns whether a word commonly starts a sentence.
    pub(super) fn starts(&self, word: &str) -> bool {
        self.entry(word).starts
    }

    /// Returns whether a word binds to what follows it.
    pub(super) fn connects(&self, word: &str) -> bool {
        self.entry(word).connects
    }

    /// Returns whether a word opens a time phrase that is not yet a sentence.
    pub(super) fn opens(&self, word: &str) -> bool {
        self.entry(word).opens
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_picks_its_language_by_the_primary_part() {
        assert!(Language::of(Some("de-AT")).ordinals);
        assert!(Language::of(Some("EL")).small_starts);
        assert!(Language::of(None).starts("The"));
        assert!(!Language::of(Some("xx")).starts("The"));
        assert_eq!(
            Language::of(Some("xx")).abbreviation("Dr"),
            Some(Abbreviation::Never)
        );
    }

    #[test]
    fn every_entry_is_in_lower_case() {
        for language in LANGUAGES.iter().chain([&COMMON]) {
            for list in [
                language.never,
                language.numbered,
                language.inner,
                language.outer,
                language.starters,
                language.connectors,
                language.openers,
            ] {
                assert_eq!(list, list.to_lowercase());
                assert!(list.split(' ').all(|word| word.len() <= LONGEST), "{list}");
            }
        }
    }
}
