// docs/configuration.md, written from the table of keys, so that it cannot say anything else.
internal import ConfigurationKeys

/// The documentation of every key.
package enum ConfigurationDocument {
    /// The whole file.
    package static var text: String {
        ([Self.introduction, Self.tableHead] + ServerConfiguration.keys.map(Self.row)
            + [Self.standardVariables] + OpenTelemetryVariables.documentation.map(Self.item))
            .joined(separator: "\n") + "\n"
    }

    private static let introduction = """
        # Configuration

        `sightline config print --markdown` writes this file from the program's table of keys
        (`make docs`), and a test compares the two.

        A value comes from the first of these that sets it:

        1. a flag: `--listen`, `--data-dir` and `--sink`, or for every key `--set KEY=VALUE`, as in
           `--set limits.request_bytes=100000`;
        2. a variable of the environment: `SIGHTLINE_` and the key in upper case, with `_` for its
           dots;
        3. the YAML file of `--config`, of at most 256 KiB, where each dot opens a section:

           ```yaml
           sink: jsonl
           limits:
             request_bytes: 100000
           ```

        4. for spans, OpenTelemetry's own variables (`OTEL_…`, below the table);
        5. the default.

        Sizes and times are whole numbers of the key's unit, or have a unit of their own: `16k`,
        `64MB`, `4GB`; `500ms`, `90s`, `15m`, `12h`, `7d`. `k`, `M`, `G` and `T` are powers of
        1024, in either case, alone or with `B` or `iB`. A time has to be a whole number of the
        key's unit: `1500ms` is no value of a key in seconds. The same holds in `quotas.file`, and
        for the options of the commands that take a time.

        What is wrong stops `sightline serve` before its port is bound, with exit code 78: a key or
        a variable `SIGHTLINE_…` that does not exist, a key that is given twice, a value of a wrong
        type or out of its range, a file that cannot be read, a directory that cannot be written.
        All problems are told at once, each with its place (file, line and column; variable; flag),
        its key, the value seen, the rule, and for a name that does not exist the nearest one that
        does. A port or a data directory that is in use ends it with 69. Variables that Kubernetes
        sets for a service of this name (`SIGHTLINE_PORT…`, `SIGHTLINE_SERVICE_…`) are passed over.

        `sightline validate FILE` finds the same problems without starting anything.
        `sightline config print --config FILE` shows each key's value and where it was set; secrets
        are hidden.

        SIGHUP makes a running server read all of this again, and the files that it names. Keys
        marked in the column "reload" change at once; others that have changed are named in a
        warning, and need a restart. Where anything is wrong, everything stays as it was, and each
        problem is logged.

        """

    private static let tableHead = """
        | key | variable | default | unit | values | reload | meaning |
        | --- | --- | --- | --- | --- | --- | --- |
        """

    private static let standardVariables = """

        ## OpenTelemetry's variables

        They rank below this server's own variables and its file. Of two in a row the first
        holds. As their specification asks, an empty one counts as unset, and one that is malformed
        or beyond its key's range is told of in the log and passed over; so is
        `OTEL_PROPAGATORS` where it is not `tracecontext,baggage`. An endpoint without a scheme is
        https, or http with `OTEL_EXPORTER_OTLP_INSECURE=true`. `OTEL_TRACES_EXPORTER=otlp` without
        any endpoint stands for `http://localhost:4318`, with the protocol `grpc` for
        `http://localhost:4317`.

        """

    private static func item(_ key: String, _ variables: [String]) -> String {
        "- `\(key)`: " + variables.map { "`\($0)`" }.joined(separator: ", ")
    }

    private static func row(_ key: ServerConfiguration.Key) -> String {
        let standard = key.standardText.isEmpty ? "" : "`\(key.standardText)`"
        let cells = [
            "`\(key.name)`", "`\(key.environmentVariable)`", standard, key.unit,
            Self.values(key.standard), key.isReloadable ? "yes" : "",
            key.meaning + (key.isSecret ? " (secret)" : ""),
        ]
        // A bar would end its cell.
        let escaped = cells.map { $0.split(separator: "|", omittingEmptySubsequences: false) }
        return "| " + escaped.map { $0.joined(separator: "\\|") }.joined(separator: " | ") + " |"
    }

    private static func values(_ value: StandardValue) -> String {
        switch value {
        case .text: "text"
        case .choice(_, let choices): choices.map { "`\($0)`" }.joined(separator: ", ")
        case .number(_, let range): "\(range.lowerBound) to \(range.upperBound)"
        case .flag: "`true`, `false`"
        }
    }
}
