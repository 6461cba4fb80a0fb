internal import Synchronization

/// The live page as it is served now, and where. With `serve --dev` it gets the section that sends
/// test events when the HTTP port is bound, which is after its own port.
package final class LivePage: Sendable {
    private let state = Mutex(State())

    private struct State {
        var page = AdminPage()
        var origins: [String] = []
    }

    init() {}

    /// The page and its policy, which belong together.
    var current: AdminPage { self.state.withLock { $0.page } }

    /// Its origins as browsers send them: its address, and localhost. None until its port is bound.
    package var origins: [String] { self.state.withLock { $0.origins } }

    /// Notes the page's URL, such as `http://127.0.0.1:9464/`.
    func listens(at url: String) {
        let origin = url.split(separator: "/").joined(separator: "//")
        let port = origin.split(separator: ":").last ?? ""
        self.state.withLock { $0.origins = [origin, "http://localhost:\(port)"] }
    }

    /// Adds the section that sends test events.
    ///
    /// - Parameter url: the HTTP port's URL, such as `http://127.0.0.1:8080/`. The page and its
    ///   policy quote it as it is, so its host has to be an address of IPv4.
    package func offerTestEvents(at url: String) {
        let page = AdminPage(testEventsAt: url)
        self.state.withLock { $0.page = page }
    }
}
