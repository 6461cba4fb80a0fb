// A schema of a test's own on a real server, read and changed by psql.
internal import Foundation
package import PostgreSQLSink
package import TestSupport
internal import Testing

extension PostgreSQLConfiguration {
    /// The URL of the server that `make test-swift` has started; nil where none was.
    package static let testServer = ProcessInfo.processInfo.environment["SIGHTLINE_TEST_POSTGRESQL"]

    /// A schema named like the test's directory, on that server.
    package static func test(_ directory: TemporaryDirectory) throws -> PostgreSQLConfiguration {
        var configuration = PostgreSQLConfiguration()
        configuration.url = try #require(Self.testServer)
        configuration.tlsMode = .disable
        configuration.schema = URL(filePath: directory.path).lastPathComponent.lowercased()
            .replacingOccurrences(of: "-", with: "_")
        return configuration
    }
}

/// Reads and changes a schema behind the sink's back.
package struct TestDatabase {
    private let configuration: PostgreSQLConfiguration

    /// What psql says of a statement that fails.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    package init(_ configuration: PostgreSQLConfiguration) { self.configuration = configuration }

    /// Runs statements in the schema; returns the rows of the queries among them.
    @discardableResult
    package func run(_ sql: String) throws -> [[String]] {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [
            "psql", "-X", "-q", "-At", "-F", "\u{1f}", "-v", "ON_ERROR_STOP=1", "-d",
            self.configuration.url, "-c", "SET search_path = \(self.configuration.schema)",
            "-c", sql,
        ]
        let (output, errors) = (Pipe(), Pipe())
        (process.standardOutput, process.standardError) = (output, errors)
        try process.run()
        let text = String(
            decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        let problem = String(
            decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failure(description: problem) }
        return text.split(separator: "\n").map { line in
            line.split(separator: "\u{1f}", omittingEmptySubsequences: false).map(String.init)
        }
    }

    /// The first value of a query.
    package func value(_ sql: String) throws -> String { try self.run(sql).first?.first ?? "" }
}
