internal import DeliveryDiagnosis
internal import Hummingbird
internal import TrackingJournal

/// The ledger's paths on the admin socket. The page does not have them, because a finding may quote
/// a flag's value as a client sent it.
struct LedgerRoutes: Sendable {
    let ledger: @Sendable () async -> Ledger
    /// What tenants have put of deliveries.
    let deliveries: any DeliveryTotalsStoring

    func add(to router: Router<BasicRequestContext>) {
        router.get("/ledger") { request, _ in
            let query = request.uri.queryParameters
            guard let delivery = query["delivery"], !delivery.isEmpty else {
                return AdminAnswer.text(.badRequest, "delivery has to be the delivery's id")
            }
            let tenant = query["tenant"].map(String.init)
            let totals = try await self.deliveries.totals(
                of: String(delivery), tenant: tenant)
            let accounts = await self.ledger().accounts(
                of: String(delivery), tenant: tenant, totals: totals)
            return try AdminAnswer.json(.ok, accounts.map(DeliveryAccountLine.init))
        }
        router.get("/ledger/candidates") { request, _ in
            let query = request.uri.queryParameters
            guard let search = query["like"], !search.isEmpty else {
                return AdminAnswer.text(.badRequest, "like has to be a part of an id")
            }
            let candidates = await self.ledger().candidates(
                of: DeliverySearch(String(search)), tenant: query["tenant"].map(String.init))
            return try AdminAnswer.json(.ok, candidates)
        }
        router.get("/ledger/troubles") { request, _ in
            guard let selection = Selection(request) else { return Selection.refusal }
            let (ledger, delivery) = (await self.ledger(), selection.delivery)
            let totals = await self.deliveries.known(ofAny: ledger.deliveriesToCompare(delivery))
            let troubles = ledger.troubles(
                tenant: selection.tenant, delivery: delivery, limit: selection.limit,
                totals: totals)
            return try AdminAnswer.json(.ok, troubles)
        }
        router.get("/ledger/versions") { request, _ in
            guard let selection = Selection(request) else { return Selection.refusal }
            let splits = await self.ledger().versionSplits(
                tenant: selection.tenant, delivery: selection.delivery, limit: selection.limit)
            return try AdminAnswer.json(.ok, splits)
        }
    }

    /// The deliveries that a request for all of them selects.
    private struct Selection {
        /// The answer to one that selects none.
        static var refusal: Response {
            AdminAnswer.text(.badRequest, "limit has to be a number above 0")
        }

        let tenant: String?
        let delivery: String?
        let limit: Int

        /// Nil without a limit.
        init?(_ request: Request) {
            let query = request.uri.queryParameters
            guard let limit = query["limit"].flatMap({ Int($0) }), limit > 0 else { return nil }
            self.tenant = query["tenant"].map(String.init)
            self.delivery = query["delivery"].map(String.init)
            self.limit = limit
        }
    }
}
