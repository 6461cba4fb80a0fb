// `sightline sinks try`: one sink of a configuration, with one test hit.
internal import ConfigurationKeys
internal import Foundation
package import ServerConfiguration
package import SinkKit

/// Probes a sink without a server, and beside a running one: it opens neither the journal nor any
/// file of a data directory.
package struct SinkProbe: Sendable {
    private let configuration: ServerConfiguration

    /// A probe of a configuration's sinks.
    package init(_ configuration: ServerConfiguration) { self.configuration = configuration }

    /// Probes a sink; the steps end with the first failure.
    ///
    /// - Parameters:
    ///   - name: the sink's name in the configuration.
    ///   - tenant: whose hit is delivered.
    /// - Throws: `ConfigurationError` if there is no such sink, or it cannot be used as it is
    ///   configured.
    package func steps(of name: String, tenant: String) async throws -> [ProbeStep] {
        let sinks = self.configuration.sinks
        guard let listed = sinks.first(where: { $0.name == name }) else {
            let names = sinks.map(\.name).joined(separator: ", ")
            throw ConfigurationError(["there is no sink \(name); the configuration has \(names)"])
        }
        var generator = SystemRandomNumberGenerator()
        let hit = try ProbeHit.batch(
            tenant: tenant, time: Int64(Date().timeIntervalSince1970 * 1_000_000),
            using: &generator)
        guard listed.hasFiles else {
            return await (try self.open(listed, in: nil)).stepsOfProbe(hit)
        }
        return await self.stepsInFiles(listed, hit)
    }

    private func open(_ listed: ListedSink, in directory: String?) throws -> any Sink {
        do {
            return try SinkFactory(self.configuration, directory: directory).open(listed).sink
        } catch let error as ConfigurationError {
            throw error
        } catch {
            throw ConfigurationError(["the sink \(listed.name): \(error)"])
        }
    }

    /// Probes a sink on files of its own, which are deleted in the end: those of a running server
    /// have one writer.
    private func stepsInFiles(_ listed: ListedSink, _ hit: HitBatch) async -> [ProbeStep] {
        let parent = Self.existing(self.configuration.dataDirectory)
        let directory = "\(parent)/\(ProbeHit.mark)-\(getpid())"
        let manager = FileManager.default
        do {
            try manager.createDirectory(atPath: directory, withIntermediateDirectories: false)
        } catch {
            return [
                .failed(
                    "directory", "nothing can be written in \(parent): \(error)",
                    fix: "let this user write there, or set data_dir")
            ]
        }
        // It holds nothing but the test hit.
        defer { try? manager.removeItem(atPath: directory) }
        let place = ProbeStep.worked(
            "directory", "\(parent) can be written; the probe's files are deleted again")
        do {
            let sink = try self.open(listed, in: directory)
            return [place] + (await sink.stepsOfProbe(hit))
        } catch {
            return [
                place,
                .failed("file", "\(error)", fix: "look at the file system of \(parent)"),
            ]
        }
    }

    /// A directory, or the first one above it that exists.
    private static func existing(_ directory: String) -> String {
        var url = URL(filePath: directory)
        while !FileManager.default.fileExists(atPath: url.path), url.pathComponents.count > 1 {
            url.deleteLastPathComponent()
        }
        return url.path
    }
}
