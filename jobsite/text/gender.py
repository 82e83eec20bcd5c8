"""Job titles that name one gender only, as patterns that both databases know: without \\b and look-around.

The words are trades whose form names a gender. Dutch uses the masculine form for everybody, so only feminine
forms and words with -man are listed. Words that are English, too, such as Manager, are left out.
"""

_LETTER = "[a-zà-ÿÀ-Þ]"
_WORDS = {
    "de": (
        "(verkäufer|kassierer|entwickler|programmierer|informatiker|elektriker|elektroniker|mechaniker"
        "|mechatroniker|techniker|chemiker|optiker|fahrer|leiter|berater|pfleger|betreuer|erzieher|lehrer|helfer"
        "|arbeiter|meister|bäcker|metzger|fleischer|kellner|gärtner|maler|lackierer|maurer|dachdecker|tischler"
        "|schreiner|zimmerer|schlosser|schweißer|reiniger|apotheker|buchhalter|zeichner|kommissionierer|packer"
        "|ausbilder|wissenschaftler|vertreter|händler|makler|prüfer|übersetzer|dolmetscher|führer|planer|bediener"
        "|monteur|installateur|ingenieur|redakteur|friseur|sekretär|lagerist|florist|disponent|referent"
        "|assistent|laborant|praktikant|architekt|jurist|therapeut|pädagoge|konditor|landwirt|anwalt)(in)?"
        "|koch|köchin|arzt|ärztin|pädagogin|friseuse|(kauf|fach|haus)mann|(kauf|fach|haus|putz)frau"
        "|schwester|zimmermädchen|empfangsdame|angestellter|auszubildender"
    ),
    "fr": (
        "(vend|serv|coiff|livr|développ|soud|programm|achet|déménag|nettoy|mass)eu(r|se)|chauffeur|couvreur"
        "|(mon|éduca|direc|prépara|conduc|anima|opéra|forma|coordina|rédac|traduc|négocia|administra|install?a)"
        "(it|t)?(eur|rice)|(techn|électr|mécan|pharmac|informat|chirurg|gard|diétét)i?(c|g|d)?ien(ne)?"
        "|(infirm|cuisin|caiss|ouvr|pâtiss|jardin|plomb|menuis|charpent|magasin|polic|hôtel|épic)i(er|ère)"
        "|(boulang|bouch|conseill)(er|ère)|(soign|enseign|gér|étudi|repr(é|e)sent)ante?|assistante"
        "|(employ|charg|attach|délégu)ée?|avocate?|ingénieur|maçon|hôtesse|femme de (ménage|chambre)"
    ),
    "nl": (
        "(kap|verkoop|verpleeg|schoonmaak|poets|kassier|serveer|verzorg|begeleid|medewerk|huishoud|naai"
        "|vertegenwoordig)ster|secretaresse|lerares|onderwijzeres|(direct|redact|animat|opvoed)rice|coiffeuse"
        "|masseuse|receptioniste|stewardess|kamermeisje|kleuterjuf|(poets|gast|werk|vroed)vrouw|gastheer"
        "|(timmer|vak|werk|brandweer)man"
    ),
}
# A database of the locale C does not know that Ä is ä.
_ANY_CASE = {ord(each): f"[{each}{each.upper()}]" for each in "äöüàâèéêçô"}
ONE_GENDER = {
    language: rf"{'' if language == 'fr' else _LETTER + '*'}({words.translate(_ANY_CASE)})([^-a-zà-ÿÀ-Þ]|$)"
    for language, words in _WORDS.items()
}
ONE_GENDER["fr"] = f"(^|[^a-zà-ÿÀ-Þ]){ONE_GENDER['fr']}"
# "(m/w/d)", "h/f", "Verkäufer/in", "Directeur / Directrice", "Leiter:in", "Kassier(ster)", "(gn)"
BOTH_GENDERS = (
    rf"{_LETTER}[:*_·•.]{_LETTER}|{_LETTER} ?[/|] ?-?{_LETTER}|{_LETTER}\(-?{_LETTER}+\)"
    r"|\([a-z] ?[,;] ?[a-z]|\(([mwfvhdx]{2,4}|gn)\)|-(euse|se|rice|ère|ne|e|in|innen|ster)([^a-zà-ÿÀ-Þ]|$)"
    r"| (oder|bzw\.?|ou|of) |gender|geschlecht|geslacht|genres"
)
CAPITAL_I = r"[a-zäöüß]In(nen)?([^a-zà-ÿÀ-Þ]|$)"  # "VerkäuferIn": the case counts
