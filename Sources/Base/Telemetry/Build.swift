/// What a program was built from. Unknown values are "unknown", nil or empty.
package struct Build: Sendable, Encodable, Equatable {
    /// The release, as the file VERSION has it.
    package let version: String
    /// The commit's hash.
    package let commit: String
    /// Whether the sources differed from the commit.
    package let modified: Bool?
    /// The version of the Swift compiler.
    package let swift: String
    /// The traits that were on, sorted.
    package let traits: [String]

    /// Describes a build; everything but the version is unknown by default.
    package init(
        version: String, commit: String = "unknown", modified: Bool? = nil,
        swift: String = "unknown", traits: [String] = []
    ) {
        self.version = version
        self.commit = commit
        self.modified = modified
        self.swift = swift
        self.traits = traits
    }
}
