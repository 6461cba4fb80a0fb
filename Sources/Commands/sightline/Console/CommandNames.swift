internal import ArgumentParser
internal import TrackingReport
internal import WireFormat

/// Suggests the command that a user probably meant: argument-parser suggests options, but no
/// commands.
enum CommandNames {
    /// What is wrong with the command in `words`, and the nearest existing one; nil if the command
    /// exists.
    static func problem(with words: [String], of root: any ParsableCommand.Type) -> String? {
        var command = root
        var path = Self.name(of: root)
        for word in words {
            let subcommands = command.configuration.subcommands
            guard !subcommands.isEmpty, !word.hasPrefix("-"), word != "help" else { return nil }
            guard let next = subcommands.first(where: { Self.name(of: $0) == word }) else {
                let nearest = NearestName.suggestion(
                    for: word, among: subcommands.map { Self.name(of: $0) })
                return "\(path) has no command \"\(word.printable)\""
                    + (nearest.isEmpty ? "; `\(path) --help` lists them" : nearest)
            }
            command = next
            path += " " + word
        }
        return nil
    }

    /// The name that argument-parser derives from the type of a command without an explicit name.
    private static func name(of command: any ParsableCommand.Type) -> String {
        command.configuration.commandName ?? String(describing: command).lowercased()
    }
}
