// Loops that try again: each has to wait before it does.
internal import Foundation

extension SourceRules {
    /// What a loop waits by.
    private static let waits = ["sleep(", "wait(", "pause(", "poll("]
    /// The cases of answers that mean a failure.
    private static let failures: Set = [
        "dataLoss", "failed", "failure", "lost", "noRoom", "progressed", "queueFull", "refused",
        "rejected", "suspended", "tooLarge", "unavailable", "unreadable",
    ]

    /// Branches after which a loop goes round again at once although something has failed, and why
    /// each of them is no endless storm.
    static let endedRetries: [String: String] = [
        "Base/Storage/FileSystem.swift: } catch {":
            "a signal has interrupted the call; any other error is thrown",
        "Client/SightlineClient/Ticket.swift: "
            + "case .failure(let unsettled): try await unsettled.promise.get()":
            "it waits for the verdict",
        "Commands/sightline/Send/EventSender.swift: } catch let error as SightlineClientError {":
            "the next ticket is another event's",
        "Core/TrackingJournal/Segment.swift: } catch {": "the next page is read",
        "Delivery/Delivery/Forwarder.swift: case .unreadable:":
            "the groups come again one by one, and each of those is settled",
        "Delivery/Delivery/Replay/Replay.swift: case .dataLoss(let reason):":
            "at most maxLosses times",
        "Sinks/CampaignSink/CampaignSink.swift: case .refused(let reason):":
            "the request is settled",
        "Sinks/CampaignSink/CampaignSink.swift: case .unavailable(let reason, let wait):":
            "the request is left to the next attempt",
        "Sinks/PostgreSQLSink/HitStore.swift: "
            + "} catch let error as PostgreSQLError where error.isOfRow && way != .careful {":
            "the next way is more careful, and the last one throws",
        "Sinks/SQLiteSink/StoredHits.swift: } catch is WireError {": "the next row is read",
    ]

    /// The branches of loops that handle a failure, neither wait nor leave the loop, and are in a
    /// loop that does not wait each time round. As our sources are formatted, a branch ends with
    /// the first line that stands as far left as its heading.
    static func hastyRetries(in file: SourceFile) -> [Finding] {
        let lines = file.lines.map { Self.trimmed($0) }
        var found: [Int: Finding] = [:]
        for start in lines.indices where Self.isLoop(lines[start]) {
            guard let body = Self.body(ofLoop: start, in: lines) else { continue }
            let margin = Self.margin(of: lines[start]) + 4
            let waitsAlways = lines[body].contains { line in
                Self.margin(of: line) == margin && Self.doesWait(line)
            }
            if waitsAlways { continue }
            for line in body where Self.isHasty(line, until: body.upperBound, in: lines) {
                found[line] = Finding(
                    path: file.path, line: line + 1, problem: Self.text(of: lines[line]))
            }
        }
        return found.values.sorted { $0.line < $1.line }
    }

    /// Whether a line begins a branch after a failure that neither waits nor leaves the loop.
    private static func isHasty(_ line: Int, until end: Int, in lines: [String]) -> Bool {
        let margin = Self.margin(of: lines[line])
        let words = lines[line].split(separator: " ")
        let isCase = words.first == "case"
        var (start, statements) = (line + 1, [String]())
        if isCase {
            let heading =
                lines[line..<end].firstIndex { $0.contains(": ") || $0.hasSuffix(":") } ?? line
            let parts = lines[heading].components(separatedBy: ": ")
            let pattern = lines[line..<heading].joined(separator: " ") + (parts.first ?? "")
            guard Self.isFailure(pattern) else { return false }
            if parts.count > 1 { statements = [parts.dropFirst().joined(separator: ": ")] }
            start = heading + 1
        } else {
            guard words.contains("catch"), words.last == "{" else { return false }
        }
        let last = lines[start...].firstIndex { !$0.isEmpty && Self.margin(of: $0) <= margin }
        let inside = lines[start..<(last ?? end)]
        if (statements + inside).contains(where: { Self.doesWait($0) }) { return false }
        statements += inside.filter { Self.margin(of: $0) == margin + 4 }.map { Self.text(of: $0) }
            .filter { $0.first.map { !")}.".contains($0) } ?? false }
        let leaving = statements.last?.split(separator: " ") ?? []
        // In a case, `break` without a label leaves the switch alone.
        if leaving.first == "break" { return isCase && leaving.count == 1 }
        return leaving.first != "return" && leaving.first != "throw"
    }

    private static func isFailure(_ pattern: String) -> Bool {
        let names = pattern.split { !$0.isLetter && $0 != "." }
        return names.contains { name in
            guard name.contains("."), let last = name.split(separator: ".").last else {
                return false
            }
            return Self.failures.contains(String(last))
        }
    }

    private static func isLoop(_ line: String) -> Bool {
        var words = line.split(separator: " ")[...]
        if words.first?.last == ":" { words = words.dropFirst() }
        let isAsync = words.dropFirst().prefix(2).contains("await")
        return words.first == "while" || words.first == "repeat" || words.first == "for" && isAsync
    }

    /// The lines between the braces; nil for a loop in one line.
    private static func body(ofLoop start: Int, in lines: [String]) -> Range<Int>? {
        guard !lines[start].hasSuffix("}"),
            let heading = lines[start...].firstIndex(where: { $0.hasSuffix("{") })
        else { return nil }
        let margin = Self.margin(of: lines[start])
        let rest = lines[(heading + 1)...]
        let end = rest.firstIndex { !$0.isEmpty && Self.margin(of: $0) <= margin }
        return end.map { heading + 1..<$0 }
    }

    private static func doesWait(_ line: String) -> Bool {
        Self.waits.contains { line.contains($0) }
    }

    private static func margin(of line: String) -> Int { line.prefix { $0 == " " }.count }

    private static func text(of line: String) -> String { String(line.drop { $0 == " " }) }

    /// A line without its comment, and without what then stands at its end.
    private static func trimmed(_ line: String) -> String {
        var code = Self.code(of: line)
        while code.last == " " { code.removeLast() }
        return code
    }
}
