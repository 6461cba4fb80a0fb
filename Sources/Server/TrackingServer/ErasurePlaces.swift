internal import Delivery
internal import Foundation
internal import Logging
internal import Operations
internal import ServerConfiguration
internal import SinkKit
internal import TrackingJournal
internal import TrackingRules

/// The places where a subject is erased: the sinks, and the data directory. Each entry of the
/// directory belongs to a place, is known to hold no id, or is a place of its own: what earlier
/// configurations have left is erased, and what cannot be is named in the receipt as not done.
struct ErasurePlaces: Sendable {
    let directory: String
    let version: String
    let sinks: RunningSinks
    let deadLetters: DeadLetters
    /// The kept events; nil if none are kept now.
    let quarantine: QuarantineFile?
    let forgotten: ForgottenSubjects
    let logger: Logger

    private static let (letters, journal) = ("dead_letters.db", "journal")
    /// What SQLite adds to the name of a database.
    private static let suffixes = ["-wal", "-shm", "-journal"]
    /// The entries that hold no id: locks, sockets, hashes and totals.
    private static let withoutIDs: Set = [
        "lock", "admin.sock", ".admin", ForgottenFile.name, DeliveryTotalsFile.name,
    ]
    /// The entries of the journal's directory that the place of the journal stands for.
    private static let ofJournal: Set = ["checkpoint.db", "ballast"]
    private static let segmentPrefix = "segment-"
    /// The maximum number of entries that are named, each on a line of the receipt.
    static let maxNamed = 100

    /// The places, in the order in which they are visited. The sinks come first: hits that they
    /// reject meanwhile become dead letters, which are erased next.
    func all() -> [SubjectEraser.Place] {
        let (running, ending) = self.sinks.openSinks
        var places = running.map { SubjectEraser.Place($0.name, $0.sink.erase) }
        places += ending.map { Self.ending($0.name) }
        places += self.sinks.closedSinks(besides: running + ending).map(Self.former)
        places.append(SubjectEraser.Place(Self.letters, self.deadLetters.erase))
        if let quarantine {
            places.append(SubjectEraser.Place(QuarantineFile.name, quarantine.erase))
        }
        return places + self.others(besides: Self.files(of: running + ending)) + [.journal]
    }

    /// The entries of the data directory that sinks have.
    private static func files(of sinks: [RunningSink]) -> Set<String> {
        Set(sinks.flatMap(\.opened.files).map { URL(filePath: $0).lastPathComponent })
    }

    /// A sink that was taken out, and whose last batch may be under way.
    private static func ending(_ name: String) -> SubjectEraser.Place {
        SubjectEraser.Place(name) { _ in
            .last(
                .failed(
                    "it was taken out of the list of sinks, and its last delivery has not ended"))
        }
    }

    private static func former(_ name: String) -> SubjectEraser.Place {
        SubjectEraser.Place(name) { _ in
            .last(
                .impossible(
                    "it is no longer in the list of sinks: what its backend was sent has to be "
                        + "deleted there; files that it has left here are places of their own"))
        }
    }

    // MARK: The data directory

    /// The entries that are in no place above, each as a place.
    private func others(besides files: Set<String>) -> [SubjectEraser.Place] {
        var known = files.union(Self.withoutIDs).union([Self.letters, Self.journal])
        if self.quarantine != nil { known.insert(QuarantineFile.name) }
        do {
            let left = Self.unknown(try self.names(in: self.directory), known: known)
            let aside = Self.unknown(
                try self.names(in: "\(self.directory)/\(Self.journal)")
                    .filter { !Self.isSegment($0) }, known: Self.ofJournal)
            return Self.bounded(
                left.map(self.place(of:)) + aside.map { Self.named("\(Self.journal)/\($0)") })
        } catch {
            return [
                SubjectEraser.Place("data_dir") { _ in
                    .last(.failed("its entries cannot be listed: \(error)"))
                }
            ]
        }
    }

    private static func isSegment(_ name: String) -> Bool {
        name.hasPrefix(Self.segmentPrefix)
            && Int(name.dropFirst(Self.segmentPrefix.count)) != nil
    }

    /// A directory that is missing, as the journal's is without a disk, has no entries.
    private func names(in directory: String) throws -> [String] {
        guard FileManager.default.fileExists(atPath: directory) else { return [] }
        return try FileManager.default.contentsOfDirectory(atPath: directory)
    }

    /// The entries of a directory that are not known, in order. What SQLite keeps beside a database
    /// belongs to it.
    static func unknown(_ names: [String], known: Set<String>) -> [String] {
        let all = Set(names)
        return names.filter { name in
            if known.contains(name) { return false }
            guard let suffix = Self.suffixes.first(where: { name.hasSuffix($0) }) else {
                return true
            }
            let database = String(name.dropLast(suffix.count))
            return !known.contains(database) && !all.contains(database)
        }.sorted()
    }

    /// What an earlier configuration has left is erased as its owner would.
    private func place(of name: String) -> SubjectEraser.Place {
        if name == QuarantineFile.name {
            return SubjectEraser.Place(name) { subject in
                do {
                    return try await QuarantineFile(
                        directory: self.directory, QuarantineConfiguration(),
                        version: self.version, forgotten: self.forgotten, logger: self.logger
                    ).erase(subject)
                } catch {
                    return .last(.failed("\(error)"))
                }
            }
        }
        guard
            let eraser = SinkKind.eraser(ofLeft: name, in: self.directory, logger: self.logger)
        else { return Self.named(name) }
        return SubjectEraser.Place(name) { subject in
            await self.piece(of: name) { await eraser(subject) }
        }
    }

    /// Does a piece in what a sink has left, unless a reload has added one that writes there: each
    /// of two writers would not know what the other one changes.
    private func piece(
        of name: String, _ next: @Sendable () async -> ErasurePiece
    ) async -> ErasurePiece {
        let (running, ending) = self.sinks.openSinks
        guard !Self.files(of: running + ending).contains(name) else {
            return .last(.failed("a sink that was added meanwhile writes there"))
        }
        switch await next() {
        case .last(let erasure): return .last(erasure)
        case .followed(let following): return .followed { await self.piece(of: name, following) }
        }
    }

    /// An entry that is not looked through.
    private static func named(_ name: String) -> SubjectEraser.Place {
        SubjectEraser.Place(name) { _ in
            .last(
                .impossible(
                    name.hasSuffix(".damaged")
                        ? "a damaged file that is kept to be examined: delete it when that is done"
                        : "nothing of this server writes it, so it was not looked through: delete "
                            + "it if it has hits or events"))
        }
    }

    /// At most `maxNamed` places; one more stands for the rest.
    private static func bounded(_ places: [SubjectEraser.Place]) -> [SubjectEraser.Place] {
        let rest = places.count - Self.maxNamed
        guard rest > 0 else { return places }
        let others = SubjectEraser.Place("data_dir") { _ in
            .last(
                .failed(
                    "\(rest) more of its entries belong to no place: delete them, and ask again"))
        }
        return Array(places.prefix(Self.maxNamed)) + [others]
    }
}
