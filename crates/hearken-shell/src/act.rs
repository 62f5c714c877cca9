//! The acts that a command can perform, and how grave each is.

/// How grave an act is. Findings are reported in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ActRank {
    /// It destroys or overwrites something.
    Destroys,
    /// It changes the system beyond files: services, packages, users, the clock, disks.
    System,
    /// It communicates with other machines.
    Leaves,
    /// It touches paths outside the working directory, or secrets.
    Outside,
    /// It runs something that the command does not show.
    Hidden,
    /// It runs this project's own code (tests, builds, scripts), or changes what builds run.
    Project,
    /// Its effect is not known.
    Unknown,
}

macro_rules! acts {
    ($($rank:ident { $($(#[$doc:meta])* $act:ident = $name:literal),* $(,)? })*) => {
        /// One thing that a command can do.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Act { $($($(#[$doc])* $act,)*)* }

        impl Act {
            /// Every act, gravest first.
            pub const ALL: &[Self] = &[$($(Self::$act,)*)*];

            /// Returns the name of the act in the table of programs and in phrase keys.
            pub const fn name(self) -> &'static str {
                match self { $($(Self::$act => $name,)*)* }
            }

            /// Returns how grave the act is.
            pub const fn rank(self) -> ActRank {
                match self { $($(Self::$act => ActRank::$rank,)*)* }
            }
        }
    };
}

acts! {
    Destroys {
        /// Deletes a directory and everything in it.
        Tree = "tree",
        /// Deletes files.
        Delete = "delete",
        /// Deletes files that a search or a pipe selects.
        DeleteFound = "delete_found",
        /// Overwrites files.
        Replace = "replace",
        /// Changes files in place.
        Edit = "edit",
        /// Moves files away.
        Move = "move",
        /// Changes owners, modes or attributes of files.
        Permit = "permit",
        /// Unpacks an archive, which can overwrite files.
        Unpack = "unpack",
        /// Discards uncommitted changes.
        Discard = "discard",
        /// Rewrites a repository's history.
        History = "history",
        /// Deletes branches, tags, stashes or worktrees.
        DeleteRef = "delete_ref",
        /// Deletes build output or caches.
        Clean = "clean",
        /// Deletes containers, images, volumes or virtual machines.
        Containers = "containers",
        /// Deletes a database or its tables.
        Drop = "drop",
        /// Can change or delete data in a database.
        Data = "data",
        /// Deletes something on a server.
        DeleteRemote = "delete_remote",
    }
    System {
        /// Writes to a disk, its partitions or file systems.
        Disk = "disk",
        /// Shuts down, restarts or suspends the machine.
        Power = "power",
        /// Runs as another user.
        Root = "root",
        /// Changes users, groups or passwords.
        Users = "users",
        /// Installs packages.
        Install = "install",
        /// Removes packages.
        Uninstall = "uninstall",
        /// Updates packages.
        Upgrade = "upgrade",
        /// Starts, stops or changes services.
        Service = "service",
        /// Sets the clock.
        Clock = "clock",
        /// Changes network interfaces, routes or the firewall.
        Network = "network",
        /// Changes the kernel's modules or settings.
        Kernel = "kernel",
        /// Changes what runs on a schedule.
        Schedule = "schedule",
        /// Ends or signals programs.
        Process = "process",
        /// Mounts or unmounts file systems.
        Mount = "mount",
        /// Changes settings beyond the working directory.
        Settings = "settings",
        /// Changes devices: screens, sound, radio.
        Hardware = "hardware",
        /// Starts, stops or changes containers or virtual machines.
        Container = "container",
    }
    Leaves {
        /// Sends data to another machine.
        Send = "send",
        /// Publishes a package, image or release.
        Publish = "publish",
        /// Changes cloud or cluster resources.
        Deploy = "deploy",
        /// Changes a remote repository, its issues or pull requests.
        Remote = "remote",
        /// Signs in or out, or handles a service's credentials.
        Login = "login",
        /// Lets other machines connect to this one.
        Listen = "listen",
        /// Downloads from another machine.
        Download = "download",
        /// Communicates with another machine.
        Contact = "contact",
    }
    Outside {
        /// Touches paths outside the working directory.
        Outside = "outside",
        /// Reads keys, passwords or other secrets.
        Secrets = "secrets",
    }
    Hidden {
        /// Runs what it downloads.
        Downloaded = "downloaded",
        /// Runs what it decodes.
        Decoded = "decoded",
        /// Runs what is piped into it.
        Piped = "piped",
        /// Runs text that the command does not show.
        Generated = "generated",
        /// Downloads and runs a package.
        Packages = "packages",
        /// Changes a file that other programs run automatically.
        Plant = "plant",
        /// Runs code in another language.
        Code = "code",
        /// Starts other programs from within its own code.
        Starts = "starts",
        /// Opens a program that can run others.
        Opens = "opens",
    }
    Project {
        /// Runs this project's own code.
        Project = "project",
        /// Changes a file that builds or tests run.
        BuildFile = "build_file",
    }
    Unknown {
        /// The effect of this part is not known.
        Unknown = "unknown",
    }
}

impl Act {
    /// Returns the act with this name in the table of programs.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|act| act.name() == name)
    }
}
