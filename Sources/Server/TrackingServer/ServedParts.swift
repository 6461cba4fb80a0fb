internal import AdminServer
internal import HTTP2Edge
internal import Logging
internal import ServerConfiguration

/// What the servers of both ports are made of.
struct ServedParts {
    let configuration: ServerConfiguration
    let ingest: Ingest
    let board: HealthBoard
    let access: Access
    let stores: DataStores
    let page: LivePage
    let logger: Logger
    /// The open connections of the gRPC port.
    let connections = OpenConnections()
    /// Those of the HTTP port.
    let doorConnections = OpenConnections()

    /// The live page, if it may send test events to the HTTP port.
    var sendingPage: LivePage? { self.configuration.pageSendsTestEvents ? self.page : nil }
}
