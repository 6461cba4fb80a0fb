// A second connection to a sink's database, as a person's sqlite3 is one.
package import GRDB

extension DatabaseQueue {
    /// Waits for its turn: a sink that has just gone closes its file beside the test, and locks it
    /// until it has.
    package convenience init(inUse path: String) throws {
        var configuration = Configuration()
        configuration.busyMode = .timeout(60)
        try self.init(path: path, configuration: configuration)
    }
}
