// Comparisons with a time beside a delete: what is deleted by its age goes by the retention clock.
internal import Foundation

extension SourceRules {
    /// The folders whose modules are in the server.
    private static let keepers: Set = ["Base", "Core", "Delivery", "Edge", "Server", "Sinks"]
    /// How the names of functions that delete begin, but for `dropFirst` and `dropLast`.
    private static let deletions = [
        "delete", "drop", "evict", "expire", "forget", "prune", "purge", "rebuild", "remove",
        "retire", "unlink",
    ]
    /// Parts of the names of times.
    private static let times: Set = [
        "age", "date", "day", "days", "deadline", "due", "expiry", "hour", "hours", "instant",
        "now", "oldest", "since", "time", "today", "until", "uptime",
    ]

    /// The comparisons that do not ask `RetentionTime.isOver`, by file and how their lines begin,
    /// and why each deletes nothing by a wall clock that is believed.
    static let harmlessComparisons: [String: [String: String]] = [
        "Core/TrackingJournal/Journal+Progress.swift": [
            "rows.first { $0.createTime >= time }.map { $0.sequence - 1 }":
                "where a replay begins"
        ],
        "Core/TrackingJournal/Ledger/Ledger.swift": [
            "if let current = self.hour, hour <= current, current - hour <= 2 { return }":
                "whether an hour begins: the retention clock says what is too old in it",
            "guard !key.isOther, key.hour != day, key.hour < hour,":
                "rows of hours become rows of days, and their counts stay",
            "hour - key.hour > Self.keptHours":
                "rows of hours become rows of days, and their counts stay",
        ],
        "Core/TrackingJournal/Ledger/LedgerFunnel.swift": [
            "if row.key.hour >= since { self.recentHits &+= hits }":
                "a figure of a page"
        ],
        "Core/TrackingJournal/Totals/DeliveryTotalsFile+Format.swift": [
            "try database.cachedStatement(sql: \"DELETE FROM deliveries WHERE put_time < ?\")":
                "the time is the retention clock's"
        ],
        "Core/TrackingJournal/RetentionTimes.swift": [
            "self.spans[last].start.duration(to: time) < self.retention / 100":
                "a clock that cannot be set",
            "while let first = self.spans.first, first.end.duration(to: time) >=":
                "a clock that cannot be set",
        ],
        "Delivery/Delivery/DeadLetters/DeadLetterLog.swift": [
            "return now < logTime || now - logTime >= DeadLetterLog.interval":
                "when a log record is due; the letters that it counts are told at the latest at "
                + "the stop"
        ],
        "Edge/HTTPDoor/Listener/HTTP1Handler.swift": [
            "if let waiting, waiting.end <= deadline { return }":
                "a connection's timer, by a clock that cannot be set",
            "guard self.waitingEnd.deadline <= context.eventLoop.now else {":
                "a connection's timer, by a clock that cannot be set",
        ],
        "Edge/Operations/Quarantine/QuarantineFile+Room.swift": [
            "sql: \"SELECT id FROM events WHERE receive_time < ? ORDER BY receive_time LIMIT":
                "the time is the retention clock's"
        ],
        "Server/TrackingServer/Ingest/RequestIntake.swift": [
            "var needsRest: Bool { self.bytesSinceRest >= Self.restBytes }":
                "a number of bytes"
        ],
        "Sinks/CampaignSink/CampaignSink.swift": [
            "memory.holds = memory.holds.filter { $0.value > now }":
                "a clock that cannot be set"
        ],
        "Sinks/GRPCSink/DeliverState.swift": [
            "self.busyUntil.map { now < $0 } ?? false":
                "a clock that cannot be set"
        ],
        "Sinks/GRPCSink/DeliverStream.swift": [
            "if said.isSettled || busyUntil > .now { return busyUntil }":
                "a clock that cannot be set",
            "if next == latest, next <= .now { throw timeout }":
                "a clock that cannot be set",
        ],
        "Sinks/GRPCSink/GRPCSink.swift": [
            "guard let busyUntil, ContinuousClock.now < busyUntil else { return nil }":
                "a clock that cannot be set"
        ],
        "Sinks/KafkaSink/KafkaProducer.swift": [
            "while self.unreportedCount > 0, .now < end { self.poll(milliseconds: 50, take) }":
                "a clock that cannot be set",
            "while self.unreportedCount > 0, .now < last { self.poll(milliseconds: 50, take)":
                "a clock that cannot be set",
        ],
        "Sinks/PostgreSQLSink/HitPartitions.swift": [
            "guard self.configuration.migrates, self.due <= .now || self.lastDay != today":
                "when to look: the retention clock says what is too old"
        ],
        "Sinks/SQLiteSink/HitFolding.swift": [
            "hour < self.steps.days ? self.steps.step(of: hour).lowerBound : hour":
                "where a hit is counted",
            "if first < self.steps.days, left > 0 {":
                "counts of hours become counts of days, and their sums stay",
            "guard days > self.steps.days else { return }":
                "counts of hours become counts of days, and their sums stay",
            "sql: \"SELECT hour FROM counts WHERE hour >= ? AND hour < ? ORDER BY hour LIMIT 1\")":
                "counts of hours become counts of days, and their sums stay",
        ],
        "Sinks/SQLiteSink/HitIndex/HitIndex+Loading.swift": [
            "firstDay <= lastDay, (0...1 << 40).contains(rows.integer(6)),":
                "whether a row of the file makes sense"
        ],
        "Sinks/SQLiteSink/HitIndex/HitIndex.swift": [
            "guard let newest = self.today, day < newest, day >= newest -":
                "the day of new entries",
            "return day >= 0 ? day / days : (day + 1) / days - 1":
                "the days that are merged",
        ],
        "Sinks/SQLiteSink/HitPartitions.swift": [
            "if index == self.maxPartitions - 1 { return day <= partition.day }":
                "where a row goes",
            "var oldest: Partition? { self.all.dropLast().min { $0.day < $1.day } }":
                "the retention clock says whether it is too old",
        ],
        "Sinks/SQLiteSink/HitWriter.swift": [
            "if days > 0, self.today.isOver(oldest.day, keeping: days - 1) { return oldest }":
                "whether there is a limit"
        ],
    ]

    /// Whether a finding of `comparedTimes` is one of those.
    static func isHarmless(_ finding: Finding) -> Bool {
        let texts = Self.harmlessComparisons[finding.path] ?? [:]
        return texts.keys.contains { finding.problem.hasPrefix($0) }
    }

    /// The comparisons with a time in the server's files that delete something.
    static func comparedTimes(in file: SourceFile) -> [Finding] {
        guard Self.keepers.contains(file.folder) else { return [] }
        let lines = file.lines.map { Self.code(of: $0) }
        guard lines.contains(where: { Self.deletes($0) }) else { return [] }
        let words = lines.enumerated().flatMap { index, line in
            line.split(separator: " ").map { (line: index, text: $0) }
        }
        var found: [Int: Finding] = [:]
        for (index, word) in words.enumerated().dropFirst().dropLast()
        where ["<", "<=", ">", ">="].contains(word.text) {
            guard Self.isTime(words[index - 1].text) || Self.isTime(words[index + 1].text) else {
                continue
            }
            found[word.line] = Finding(
                path: file.path, line: word.line + 1,
                problem: lines[word.line].trimmingCharacters(in: .whitespaces))
        }
        return found.values.sorted { $0.line < $1.line }
    }

    private static func deletes(_ line: String) -> Bool {
        if line.contains("DELETE FROM") || line.contains("DROP TABLE") { return true }
        return line.split(separator: "(", omittingEmptySubsequences: false).dropLast().contains {
            let name = String($0.reversed().prefix { $0.isLetter }.reversed())
            return !["dropFirst", "dropLast"].contains(name)
                && Self.deletions.contains { name.hasPrefix($0) }
        }
    }

    /// Whether a part of an operand's name is that of a time, as in `receive_time` or `lastDay`.
    private static func isTime(_ operand: Substring) -> Bool {
        var part = ""
        for character in operand {
            if character.isUppercase || !character.isLetter {
                if Self.times.contains(part) { return true }
                part = ""
            }
            if character.isLetter { part += character.lowercased() }
        }
        return Self.times.contains(part)
    }
}
