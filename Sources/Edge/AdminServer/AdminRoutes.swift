internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import Telemetry

/// The six read-only paths of the admin server's page, and the additional ones of its socket.
struct AdminRoutes: Sendable {
    let build: Build
    let registry: MetricsRegistry
    /// The reasons why the server is not ready, for people; empty if it is.
    let notReadyReasons: @Sendable () -> [String]
    let statistics: StatisticsService
    let page: LivePage
    /// Accepted host names, besides localhost and IP addresses.
    let hostNames: [String]

    /// The answer of `/readyz`.
    private struct Readiness: Encodable {
        let isReady: Bool
        let notReady: [String]
    }

    /// The router, with the gate in front of every route.
    var router: Router<BasicRequestContext> {
        let router = Router(options: .autoGenerateHeadEndpoints)
        router.add(middleware: AdminGate(hostNames: self.hostNames))
        self.add(to: router)
        return router
    }

    /// The socket's router. No browser can reach it, so it needs no gate.
    func router(
        with sinks: SinkRoutes, _ ledger: LedgerRoutes, _ tap: TapRoutes,
        _ quarantine: QuarantineRoutes, _ privacy: PrivacyRoutes
    ) -> Router<BasicRequestContext> {
        let router = Router(options: .autoGenerateHeadEndpoints)
        self.add(to: router)
        sinks.add(to: router)
        ledger.add(to: router)
        tap.add(to: router)
        quarantine.add(to: router)
        privacy.add(to: router)
        return router
    }

    private func add(to router: Router<BasicRequestContext>) {
        router.get("/") { _, _ in
            let page = self.page.current
            var answer = AdminAnswer.bytes(.ok, "text/html; charset=utf-8", page.bytes)
            answer.headers[.contentSecurityPolicy] = page.contentSecurityPolicy
            return answer
        }
        // Always ok: a process that can answer is alive.
        router.get("/healthz") { _, _ in AdminAnswer.text(.ok, "alive\n") }
        router.get("/readyz") { _, _ in
            let reasons = self.notReadyReasons()
            return try AdminAnswer.json(
                reasons.isEmpty ? .ok : .serviceUnavailable,
                Readiness(isReady: reasons.isEmpty, notReady: reasons))
        }
        router.get("/version") { _, _ in
            try AdminAnswer.json(.ok, self.build)
        }
        router.get("/metrics") { request, _ in
            let families = self.registry.families()
            guard OpenMetricsText.isAccepted(by: request.headers[.accept] ?? "") else {
                return AdminAnswer.bytes(
                    .ok, PrometheusText.contentType,
                    ByteBuffer(string: PrometheusText.text(families)))
            }
            return AdminAnswer.bytes(
                .ok, OpenMetricsText.contentType,
                ByteBuffer(string: OpenMetricsText.text(families)))
        }
        router.get("/stats.json") { _, _ in
            AdminAnswer.bytes(
                .ok, "application/json", ByteBuffer(bytes: try await self.statistics.document()))
        }
    }
}
