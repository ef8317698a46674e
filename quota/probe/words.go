package probe

// unavailable is why a look brought no values: in the words of the UI state contract, and in English.
func unavailable(o Outcome, name string) (ru, en string) {
	switch o {
	case Measured:
		return "", ""
	case NotExposed:
		return name + " не предоставляет остаток через публичный API", name + " does not publish what is left through its API"
	case Unconfigured:
		return "Аккаунт не настроен", "The account is not configured"
	case Auth:
		return "Авторизация истекла — обновите подключение", "The authorization has expired: renew the connection"
	case Entitlement:
		return "Для этого ключа не активна подписка " + name, "No " + name + " subscription is active for this key"
	case Forbidden, Failed:
		return "Провайдер не вернул данные лимитов", "The provider returned no data about limits"
	}
	return "", ""
}
