internal import Foundation
internal import Glibc
internal import Hummingbird
internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import ServiceLifecycle

/// Serves an operator's commands on a Unix socket in the data directory, which only the server's
/// user may open: they control sinks, recover events, and show the verdicts of all tenants. No
/// setting opens the socket to the network.
struct AdminSocket: Service {
    let directory: String
    let configuration: AdminConfiguration
    let routes: AdminRoutes
    let sinks: SinkRoutes
    let ledger: LedgerRoutes
    let tap: TapRoutes
    let quarantine: QuarantineRoutes
    let privacy: PrivacyRoutes
    let logger: Logger

    /// The maximum bytes of a Unix socket's path (unix(7), without the final 0).
    private static let maxPathBytes = 107

    /// The socket of a data directory.
    static func path(in directory: String) -> String { directory + "/admin.sock" }

    /// Serves until shutdown. If the directory cannot hold a socket, it logs that and serves
    /// nothing: recording events does not depend on it.
    func run() async throws {
        do {
            try await self.serve()
        } catch {
            self.logger.warning(
                """
                there is no admin socket: sinks, replay, tail --target and top --socket cannot ask \
                this server
                """,
                metadata: ["path": "\(Self.path(in: self.directory))", "reason": "\(error)"])
            try? await gracefulShutdown()
        }
    }

    private func serve() async throws {
        let path = Self.path(in: self.directory)
        guard path.utf8.count <= Self.maxPathBytes else {
            throw AdminSocketError(
                reason: "its path has \(path.utf8.count) bytes, and a socket's may have "
                    + "\(Self.maxPathBytes): choose a shorter data_dir")
        }
        let birthplace = try self.makeBirthplace()
        var libraryLogger = self.logger
        libraryLogger.logLevel = .warning
        let server = Application(
            router: self.routes.router(
                with: self.sinks, self.ledger, self.tap, self.quarantine, self.privacy),
            server: AdminHTTP.server(self.configuration, answerTimeout: nil),
            configuration: .init(address: .unixDomainSocket(path: birthplace + "/s")),
            onServerRunning: { _ in self.publish(birthplace, as: path) },
            logger: libraryLogger)
        defer { unlink(path) }
        try await server.run()
    }

    /// Creates a directory that nobody else may enter. The socket is bound there, since it gets its
    /// mode only afterwards.
    private func makeBirthplace() throws(AdminSocketError) -> String {
        let birthplace = self.directory + "/.admin"
        // Removes the socket of a process that was killed before it published it.
        unlink(birthplace + "/s")
        rmdir(birthplace)
        guard mkdir(birthplace, 0o700) == 0 else {
            throw AdminSocketError(reason: String(cString: strerror(errno)))
        }
        return birthplace
    }

    /// Renames the socket to its path, over that of an earlier process.
    private func publish(_ birthplace: String, as path: String) {
        let socket = birthplace + "/s"
        if chmod(socket, 0o600) != 0 || rename(socket, path) != 0 {
            self.logger.warning(
                "the admin socket cannot be put in its place",
                metadata: ["path": "\(path)", "reason": "\(String(cString: strerror(errno)))"])
        }
        rmdir(birthplace)
    }
}

extension AdminSocket: CustomStringConvertible {
    /// A short name, since service groups log their services' descriptions.
    var description: String { "AdminSocket" }
}

/// Why the admin socket could not be made.
private struct AdminSocketError: Error, CustomStringConvertible {
    let reason: String
    var description: String { self.reason }
}
