internal import Logging

/// Formats a log record as a line of text, optionally coloured.
enum TextLine {
    /// The line of a record, truncated at the limit.
    static func bytes(
        _ record: LogRecord, isColored: Bool, maxBytes: Int = LogRecord.maxBytes
    ) -> [UInt8] {
        var metadata = record.metadata.map { ($0.key, "\($0.value)") }
        if let traceID = record.traceID { metadata.append(("trace_id", traceID)) }
        if let spanID = record.spanID { metadata.append(("span_id", spanID)) }
        let (color, dim, plain) =
            isColored
            ? (Self.color(record.level), "\u{1b}[2m", "\u{1b}[0m")
            : ("", "", "")
        let end = Array("…\(plain)\n".utf8)
        // Reserve room for the colour codes around a key that does not fit.
        let limit = maxBytes - end.count - 1 - dim.utf8.count - plain.utf8.count
        var line = Array("\(dim)\(LogTime.text(record.time))\(plain) ".utf8)
        line += "\(color)\(Self.name(record.level))\(plain) ".utf8
        var isWhole = LogEscape.append(
            "\(record.logger): \(record.message)", to: &line, limit: limit)
        for (key, value) in metadata where isWhole {
            line += " \(dim)".utf8
            isWhole =
                LogEscape.append("\(key)=", to: &line, limit: limit)
                && LogEscape.append(value, to: &line, limit: limit)
            line += plain.utf8
        }
        return isWhole ? line + [UInt8(ascii: "\n")] : line + end
    }

    private static func name(_ level: Logger.Level) -> String {
        level.rawValue.uppercased() + String(repeating: " ", count: 8 - level.rawValue.count)
    }

    private static func color(_ level: Logger.Level) -> String {
        switch level {
        case .trace, .debug: "\u{1b}[2m"
        case .info: "\u{1b}[32m"
        case .notice: "\u{1b}[36m"
        case .warning: "\u{1b}[33m"
        case .error: "\u{1b}[31m"
        case .critical: "\u{1b}[1;31m"
        }
    }
}
