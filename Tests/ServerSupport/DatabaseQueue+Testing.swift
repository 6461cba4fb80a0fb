// What a server has left, read back.
package import GRDB

extension DatabaseQueue {
    /// The hits in a server's data directory. A server that has just ended may still be closing the
    /// file: that is waited for, as a person's `.timeout` would.
    package static func hits(in directory: String) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.busyMode = .timeout(60)
        return try DatabaseQueue(path: directory + "/hits.db", configuration: configuration)
    }
}
