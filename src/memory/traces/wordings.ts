/** Words by which a sentence states a rule or a choice, by language; descriptions, quotes and questions must not match. */
interface Wording {
  /** Begins a sentence of the user that holds from now on: "never touch legacy/", "from now on …". */
  readonly rule: RegExp;
  /** A sentence of the user that replaces one choice by another: "use dayjs instead of moment". */
  readonly choice: RegExp;
  /** A sentence of the agent in the past tense that tells its own choice: "I went with sqlite because …". */
  readonly decided: RegExp;
  /** Tells in this way how the agent worked, or what it did not do: that is past with its turn. */
  readonly works: RegExp;
  /** A sentence of the agent that tells a cause: "It fails because the clock is in UTC". */
  readonly found: RegExp;
  /** A sentence of the agent that tells what is left to do. */
  readonly open: RegExp;
  /** Offers more work, or asks for leave: it does not ask about this one. */
  readonly offers: RegExp;
}

export const WORDINGS: Readonly<Record<string, Wording>> = {
  en: {
    rule: /^(?:.{1,60} (?:must|should) (?:never|always) |(?:we |you (?:must|should) )?(?:never (?!mind\b|ending\b|again\b)|always )(?!(?:the same|seen|been|had|got|heard|saw|happened|nice|good|great|fun|happy|glad|an? (?:pleasure|joy|pain)|th(?:is|at|ese|ose))\b|\w{1,20}(?:ed|ing|[^s\W]s)\b)|(?:do not|don['’]?t) (?:ever|use) |(?:do not|don['’]?t) (?!(?:worry|bother|know|think|see|understand|have|like|want)\b).{1,100} (?:here|any ?more|in this (?:repo|repository|project|code ?base))\b|from now on\b|going forward\b(?! with)|remember(?:(?: that)?:? (?!to\b|when\b|how\b|the\b|that\b)|:? to (?:always|never) ))|^no (?!(?:such|problem|worries|idea|need|one|wait|thanks|rush|more|longer|matter|doubt|way|reason|change|other|luck|output|error|warning|failure|difference|answer|response|reply|result|effect|success|clue|sign|news|progress|the|el|la|lo|los|las|entiendo|sé|hay|funciona|puedo|quiero|es|está)s?\b)[\w@/.-]+(?: (?!(?:yet|so far|anymore|either|is|are|was|were|has|have|does|do|will|can|fails?|exists?)\b)[\w-]+){0,3}(?: (?:in|from|under) [\w@/.*-]+(?: any ?more)?)?[.!]*$/i,
    choice:
      /^(?:let['’]?s |we |i want (?:you |us )?to )?(?:(?:use|take|pick) (?!a (?:look|break|closer|step)\b|your\b).{1,100}(?:\binstead\b|\brather than |, not |, no (?!(?:such|problem|worries|idea|need|one|rush|more|longer|matter|doubt)s?\b)[\w@/.-]+[.!]*$|(?<!\b(?:did|do|does|is|are|was|were|will|can|could|should|would|has|have) )\bnot [\w@/.-]+[.!]*$)|(?:go|stick) with (?!(?:it|that|this|these|those|them|your|what|whatever|both|either|option|number|the (?:first|second|third|last|old|new|current|existing|same|other|plan))\b)|(?:switch|migrate|change) (?:back |over |everything )?(?:from \S+ )?to (?!(?:the|a|main|master|another|branch)\b|\S+ branch)|(?:replace|swap) \S+ (?:with|by|for) \S+[.!]*$|(?:keep|put|store|write|build|make) .{1,100}(?:\binstead\b|, not |rather than ))/i,
    decided:
      /^(?:(?:I|we)(?:['’]ve| have)? )?(?:switched|migrated) from [\w@/.-]+ to |^(?:I|we)(?:['’]ve| have)? (?:decided (?:to|on|against|not to) |chose(?:n)? |opted (?:for|to) |settled on |went with |gone with |picked |switched to |(?:keep|kept|left|made|prefer(?:red)?|used?|stored?) .{1,150}\b(?:because|since|instead of|rather than)\b)/i,
    works:
      /^.{1,20}(?:decided|chosen?|chose|opted) (?:not )?(?:to|against|for) (?:first )?(?:not )?(?:go ahead|(?:re-?)?run|read|look|check|wait|ask|stop|begin|start|try|investigat|inspect|examin|open|commit|push|continu|proceed|answer|explain|reproduc|debug|execut|verif|search|list|show|do (?:it|that|this|nothing|anything)|(?:change|touch|modify|edit) (?:any|nothing))|^.{1,20}(?:picked up|(?:made|left|kept) (?:a (?:note|backup|copy)|it|this|that|everything|them) |switched to (?:the )?\S* ?(?:branch|main|master|worktree|directory|folder|file|tab)\b|used (?:the )?(?:grep|rg|sed|awk|find|cat|curl|git|ls|jq|bash|shell|terminal|editor|debugger|search|script|tool|command)\b)/i,
    found:
      /\b(?:cause (?:is|was)\b|(?:is|was|are|were) caused by|(?:comes|came|stems?) from|(?:reason|problem|bug|culprit|issue) (?:is|was)(?: that)? (?!fixed|solved|gone|resolved)|(?:fails?|failed|crash(?:es|ed)?|breaks?|hangs?|times? out|flak(?:es|y)|slow|happens?) .{0,80}because\b)/i,
    open: /\b(?:TODO|still (?:needs?|fails?|failing|depends?|uses?|relies|requires?|missing|open|to be|have to|has to)|remains? (?:to be|open|unclear|unsolved|failing)|left (?:to do|open|for later)|not yet (?:\w+)|(?:not|n['’]t) (?:[\w-]+ ){1,4}yet\b|(?:one|two|\d+) (?:thing|point|step)s? (?:is |are |remains? )?(?:left|open)|(?:I|we) (?:could not|couldn['’]t|was not able|wasn['’]t able|were unable|was unable|did not (?:run|test|verify|change|touch)|didn['’]t (?:run|test|verify|change|touch)|have not|haven['’]t)|(?:is|are|was|were) not (?:covered|implemented|tested|verified|handled)|(?:is|are|was|were)(?:n['’]t| not) available|only ran|pre-?existing failures?|out of scope)\b/i,
    offers:
      /\b(?:(?:would you like|do you want)(?! (?!me to (?!use\b|keep\b|store\b|put\b)).* or )|want me(?! to (?:use|keep|store|put) .* or )|shall i|should i (?:go|proceed|also|continue|start|do|make|commit|push|open|create|(?:re-?)?run|add|delete|fix|write|implement|apply|try|install|merge|deploy|look|investigate|check|test|revert|document|address)|may i|can i (?:help|do)|let me know|anything else|sound good|ready to|how does (?:that|this)|what would you like|what do you think|makes sense|feel free|if you(?:['’]d)? (?:like|want|prefer))\b/i,
  },
  de: {
    rule: /^(?:nie(?:mals)?|immer(?! (?:noch|wieder|nur|mehr|schön|gut|toll|dies\p{L}*|d(?:er|ie|as)(?:selbe| gleiche)))|ab (?:jetzt|sofort)|von (?:jetzt|nun) an|künftig|in zukunft|merk(?:e)? dir|wir \p{L}{2,20} (?:immer|nie|niemals)|(?:verwende|benutze?|nutze?|nimm|schreib|mach|lass|fass|ändere|lösche|importiere|teste|committe|pushe) .{0,60}\b(?:nie(?:mals)?|immer|nicht mehr|keine?n?))(?!\p{L})|^(?:kein(?:e[nmrs]?)?|ohne) (?!(?:problem|ahnung|sorge|wunder|zweifel|eile|grund|angst)\p{L}*)\S+(?: (?!(?:ist|sind|war|hat|haben|wird|werden|gibt|läuft|laufen)(?!\p{L}))\S+){0,4}[.!]*$|(?<!\p{L})(?:darf|dürfen|soll|sollen|muss|müssen) (?:nie(?:mals)?|immer)(?!\p{L})|^(?!(?:der|die|das|ein|eine) ).*(?<!\p{L})nie (?:mehr |wieder )?(?:an|ab|auf|aus|ein|um|zu)[.!]*$|^(?!.*(?<!\p{L})(?:ich|wir|er|sie|es|man|wird|werden|kann|können|hat|haben|ist|sind|will|wollen)(?!\p{L})).*(?<!\p{L})(?:nie(?:mals)?|immer|nicht mehr) (?:\S+ ){0,4}\p{Ll}+en[.!]*$/iu,
    choice:
      /^(?:lass uns |wir nehmen |doch |lieber )?(?:nimm|nehmen wir|verwende|benutze?|nutze?|lieber) .{0,100}(?:(?<!\p{L})(?:an)?statt(?:dessen)?(?!\p{L})|anstelle)|^(?:doch )?lieber (?!nicht|gar)|^(?:wechsle?|wechseln wir|stell(?:e|en wir)? (?:\S+ ){1,3}um) (?:zu|auf) |^ersetze? \S+ durch \S+[.!]*$/iu,
    decided:
      /^(?:ich habe|wir haben) (?:mich |uns )?(?!(?:noch )?nicht).{0,120}(?:entschieden|gewählt)|^(?:ich nutze|wir nutzen|ich verwende|wir verwenden) (?:jetzt|nun) /iu,
    works:
      /(?<!\p{L})(?:nichts|noch nicht)(?!\p{L})|(?<!\p{L})entschieden, (?!um )(?:\S+ ){0,4}(?:auszuführ|auszuprobier|abzuwart|nachzufrag|zu (?:lesen|suchen|prüfen|warten|fragen|beginnen|testen|starten)|anzufang|weiterzumach)/iu,
    found:
      /(?<!\p{L})(?:ursache|grund)(?:e)?(?: dafür)? (?:ist|war|liegt)(?!\p{L})|(?<!\p{L})(?:liegt|lag) (?:daran|an)(?!\p{L})|(?<!\p{L})kommt (?:daher|davon)|(?<!\p{L})(?:schlägt|bricht|scheitert|hängt|stürzt|fehlt).{0,80}(?<!\p{L})weil(?!\p{L})|verursacht/iu,
    open: /(?<!\p{L})(?:noch (?:offen|nicht|zu tun|ausstehend)|steht noch aus|fehlt noch|bleibt (?:noch )?(?:zu|offen)|konnte (?:ich )?.{1,40} nicht)(?!\p{L})/iu,
    offers:
      /^(?:soll ich(?!.* oder )|sollen wir .*(?:weitermachen|fortfahren|anfangen|beginnen|loslegen|committen|pushen|mergen|deployen)[?]?$|(?:(?:möchtest|willst) du|(?:möchten|wollen) sie)(?!,? dass)(?!.* oder )|(?:(?:möchtest|willst) du|(?:möchten|wollen) sie),? dass|darf ich|kann ich (?:noch|sonst|dir))(?!\p{L})|(?<!\p{L})(?:sag(?:en sie)? (?:mir )?(?:einfach )?bescheid|wenn du (?:magst|willst|möchtest)|passt das|einverstanden)(?!\p{L})/iu,
  },
  es: {
    rule: /^(?:(?:nunca|jamás|siempre)(?! (?:funciona|falla|pasa|ocurre|sale|da|hay|es|está|lo|el mismo|la misma|me|nos|se me|he|hemos|había|vi|pude|est[aeo]s?|bueno|un placer)(?!\p{L}))|a partir de ahora|de ahora en adelante|recuerda(?: que|:| siempre| no)|no (?:uses|toques|modifiques|hagas|subas|borres|cambies)|nada de|sin(?! problemas?| duda| errores| suerte| cambios| éxito)) /iu,
    choice:
      /^(?:mejor )?(?:usa|usemos|utiliza|utilicemos|vamos con) .{1,100}(?: en (?:vez|lugar) de |, no (?!\p{L}+(?:o|e|a|ó|é|mos)(?: |$)))|^mejor (?:usa|usemos|utiliza) |^(?:cambia|cambiemos|pasa|pasemos|migra) a |^(?:reemplaza|sustituye|cambia) \S+ por \S+[.!]*$/iu,
    decided:
      /^(?:he |hemos )?(?:decidí|decidimos|decidido|elegí|elegimos|elegido|opté por|optamos por|optado por) /iu,
    works:
      /(?:decid|eleg)\p{L}+ (?:no )?(?:ejecutar|leer|mirar|revisar|comprobar|esperar|preguntar|empezar|comenzar|probar|investigar|seguir|parar|buscar|abrir)(?!\p{L})/iu,
    found:
      /(?<!\p{L})(?:la causa (?:es|era)|el (?:motivo|problema|error|fallo) (?:es|era|está)(?! resuelt| correg)|se deb[eí]a? a|causad[oa]s? por|(?:falla|fallaba|se rompe|se cuelga) .{0,80}porque)(?!\p{L})/iu,
    open: /(?<!\p{L})(?:(?:queda|falta)n? (?:pendientes?|por)|todavía no|aún no|no (?:pude|he podido))(?!\p{L})/iu,
    offers:
      /^¿?(?:(?:quieres|quiere|te gustaría|le gustaría|deseas)(?! (?!que (?!use|guarde)).* o )|puedo|debo (?!.* o ))(?!\p{L})|(?<!\p{L})(?:avísame|dime si|si quieres|si lo deseas|te parece)(?!\p{L})/iu,
  },
  fr: {
    rule: /^(?:(?:jamais|toujours)(?! (?:vu|eu|pareil|l[ea]s? mêmes?|cet?(?:te)?|ces|un plaisir|agréable)(?!\p{L}))|n(?:e |['’]).{1,40}\bjamais|n['’]utilise(?:z)? (?:pas|plus)|à partir de maintenant|désormais|dorénavant|(?:souviens-toi|rappelle-toi|retiens)(?! d[e'’])|(?:utilise|utilisez|mets|écris|garde|fais) toujours|pas de(?! souci| problème)|ne (?:touche|modifie|supprime|change|mets)z? (?:pas|plus|jamais))(?!\p{L})/iu,
    choice:
      /^(?:utilise(?:z)?|utilisons|prends|prenons) .{1,100}(?:plutôt|au lieu d|à la place)|^plutôt |^(?:passe|passez|passons) à |^remplace(?:z)? \S+ par \S+[.!]*$/iu,
    decided: /^(?:j['’]ai|nous avons|on a) (?:décidé|choisi|opté|retenu) /iu,
    works:
      /(?:décidé|choisi) (?:de |d['’])(?:ne pas |d['’]abord )?(?:exécuter|lancer|lire|regarder|vérifier|attendre|demander|commencer|essayer|examiner|continuer|arrêter|chercher|ouvrir|ne rien)(?!\p{L})/iu,
    found:
      /(?<!\p{L})(?:la (?:cause|raison) (?:est|était)|le (?:problème|bug) (?:est que|était que|vient|venait)|(?:vient|venait) (?:de|du|d['’])|causée?s? par|(?:échoue|échouait|plante|casse) .{0,80}(?:parce qu|car ))/iu,
    open: /(?<!\p{L})(?:reste(?:nt)? (?:à|encore)|pas encore|je n['’]ai pas pu)(?!\p{L})/iu,
    offers:
      /^(?:(?:voulez-vous|veux-tu|souhaite[sz]-(?:tu|vous))(?! (?!qu).* ou )|dois-je(?!.* ou )|puis-je|est-ce que je (?:peux|dois)(?!.* ou )|tu veux que|vous voulez que)(?!\p{L})|(?<!\p{L})(?:dis-moi si|dites-moi si|si tu (?:veux|le souhaites)|si vous (?:voulez|le souhaitez)|ça te va)(?!\p{L})/iu,
  },
  pt: {
    rule: /^(?:(?:nunca|jamais|sempre)(?! (?:funciona|falha|acontece|dá|há|é|está|o mesmo|a mesma|me|nos|vi|funcionou|consegui|ess[ae]s?|est[ae]s?|bom|um prazer)(?!\p{L}))|a partir de agora|de agora em diante|lembre(?:-se)?(?: que|:)|não (?:use|mexa|toque|altere|faça|suba|apague|mude)|nada de|sem(?! problema| dúvida| erros| sorte| mudanças| sucesso)) /iu,
    choice:
      /^(?:use|usa|usemos|vamos usar|prefira) .{1,100} (?:em vez d|ao invés d|no lugar d)|^(?:use|usa|usemos|vamos usar|prefira) .{1,100}, não (?!\p{L}+(?:o|e|a|i|mos)(?: |$))|^(?:melhor|prefira) usar? |^(?:mude|muda|migre|passe) para |^(?:troque|troca|substitua) \S+ por \S+[.!]*$/iu,
    decided: /^(?:decidi|decidimos|escolhi|escolhemos|optei por|optamos por) /iu,
    works:
      /(?:decid|escolh)\p{L}+ (?:não )?(?:executar|rodar|ler|olhar|revisar|verificar|esperar|perguntar|começar|testar|investigar|continuar|parar|procurar|abrir)(?!\p{L})/iu,
    found:
      /(?<!\p{L})(?:a causa (?:é|era)|o (?:motivo|problema|erro) (?:é|era|está)(?! resolvid| corrigid)|(?:se deve|deve-se|devia-se) a|causad[oa]s? por|(?:falha|falhava|quebra|trava) .{0,80}porque)(?!\p{L})/iu,
    open: /(?<!\p{L})(?:faltam?|ainda não|ainda resta|não (?:consegui|pude))(?!\p{L})/iu,
    offers:
      /^(?:(?:quer|queres|você quer|gostaria|deseja)(?! (?!que ).* ou )|posso|devo(?!.* ou ))(?!\p{L})|(?<!\p{L})(?:me avise|avise-me|se quiser|se você quiser)(?!\p{L})/iu,
  },
  ja: {
    rule: /^(?!.*(?:次は|次に|今度は|まずは?|最後に)).*(?:絶対に|決して|必ず|常に|いつも|今後|これから|以後|二度と).{1,80}(?:て|ないで|こと|べき|禁止|ように)(?:ください|下さい|ね)?[。.!！]?$|(?:使わないで|触らないで|変更しないで|消さないで|コミットしないで)(?:ください|下さい|ね)?[。.!！]?$|^覚えておいて/u,
    choice:
      /(?:の代わりに|ではなく|じゃなくて).{1,80}(?:使って|使おう|使いましょう|にして|にしよう|で行こう)|^(?:やっぱり|やはり).{1,80}(?:にして|で行|使って|にしよう|にしましょう)|[をは].{1,30}に(?:切り替えて|変えて|置き換えて)(?:ください|下さい)?[。.]?$/u,
    decided: /(?:ことにしました|を採用しました|を選びました|に決めました|に切り替えました)[。.]?/u,
    works:
      /(?:実行|確認|調査|質問|中断|開始|変更)(?:し|は)ない|(?:実行|確認|調査|質問|検索)する(?:こと)|(?:読む|見る|待つ|調べる|試す|始める)こと|ブランチに切り替え|(?:作者|著者|チーム|開発者|彼ら|元の|以前|README|コメント).{0,20}[はがに]/u,
    found:
      /原因(?:は|が|だ|です)|が原因|(?:失敗|エラー|落ち|クラッシュ).{0,40}(?:ため|から)(?:です|だ)?[。.]?$/u,
    open: /まだ.{1,40}(?:ない|ません|未)|残って(?:い|お)|未(?:対応|実装|完了|確認)/u,
    offers:
      /^(?!.*(?:どちら|どっち|それとも)).*(?:しましょうか|ましょうか|てもよろしいですか|てもいいですか|よろしいでしょうか|(?:作成|作り|開き|続け|進め|コミット|プッシュ|追加)(?:し)?ますか)[?？。]?$/u,
  },
  zh: {
    rule: /^(?:请)?(?:永远不要|永远(?!都?是)|绝不|绝对不要|千万(?:不要|别)|(?:不要|别)(?:再|直接)?(?:使用|用|修改|改|动|碰|提交)|禁止|始终(?!都?是|会|报|失败)|一律|务必|从现在(?:开始|起)|以后|今后|记住)/u,
    choice:
      /^(?:还是|请)?(?:改用|换成|换用|用(?![户例来于途法到力心意量]).{1,40}(?:代替|替代|而不是|不要用|别用)|把.{1,20}(?:换成|替换成|改成))/u,
    decided: /^(?:我|我们)?(?:最终)?(?:决定(?!权|性|于|因|论|了吗)|选择了|采用了|改用了)/u,
    works:
      /决定(?:不|先|暂时)?(?:再|去)?(?:不)?(?:运行|执行|看|读|查|等|问|检查|搜索|开始|尝试|测试|停止|改动任何)/u,
    found: /原因(?:是|在于)|是因为|(?:失败|报错|崩溃).{0,40}因为|由.{1,40}(?:导致|引起)/u,
    open: /还没|尚未|还需要|未(?:完成|处理|实现|验证)|有待/u,
    offers:
      /^(?:要不要(?:我)?|需要我|要我|是否需要我|我(?:可以|要不要)|可以(?:吗|帮))(?!.*还是).*[?？吗]|如果(?:你)?需要/u,
  },
};

/** The present tense describes the code, or an opinion: "We use Redis because writes dominate". */
export const DESCRIBES = /^(?:I|we) (?:keep|prefer|use|store)\b/i;

/** A choice of what only its turn knows, "the old one", or of a detail in one file or place of the code, in any of the languages. */
export const PASSING =
  /^\S+ (?:\S+ ){0,2}?(?:the |d(?:er|ie|as|en) |el |la |le |l['’]|[oa] )(?:old|new|first|second|third|last|other|same|current|alte[nrs]?|neue[nrs]?|erste[nrs]?|zweite[nrs]?|viej[oa]|nuev[oa]|primer[oa]?|segund[oa]|ancien(?:ne)?|nouve(?:au|lle)|premi(?:er|ère)|velh[oa]|nov[oa]|primeir[oa])(?!\p{L}).*(?<!\p{L})(?:not|of|than|nicht|statt|no|de|pas|não|d[ao])(?: the| d(?:er|ie|as|en)| el| la| le| [oa])? (?:old|new|first|second|third|last|other|alte|neue|erste|zweite|viej|nuev|primer|segund|ancien|nouve|premi|velh|nov|primeir)|^(?:change|switch|wechsle?|stell|cambia|pasa|passe[zr]?|mude|muda) .*(?<!\p{L})(?:in|at|en|dans|em|no|na) \S*\w\.\w{1,5}[.!]*$|^\S+ (?:lieber |mejor |plutôt )?(?:an?|une?|un[ao]?|eine?n?|uma?) (?:[\p{L}-]+ )?(?:\p{L}*loop|(?:for|while)-?\p{L}*|variable|constant[ea]?|function|method|helper|ternary|switch|guard|callback|lambda|\p{L}*schleife|konstante|funktion|methode|bucle|ciclo|función|método|boucle|fonction|méthode|laço|variável|função)(?!\p{L})/iu;

/** Begins a sentence that supposes something, in any of the languages. */
export const CONDITION =
  /^(?:if|when(?:ever)?|unless|suppose|should|wenn|falls|sollte|si|cuando|quand|lorsque|se|quando|caso)(?!\p{L})|^(?:もし|如果|要是|假如)/iu;

/** Says when something holds, behind it, in any of the languages: "use dayjs instead if it is faster". */
export const PROVISO =
  /[\s,](?:if|unless|in case|provided|as long as|wenn|falls|sofern|solange|si|salvo que|a menos|à moins|tant que|caso|enquanto)\s|(?:場合|なら|如果|除非|的话)/iu;

/** Says that something is for this time only, or was decided long ago, in any of the languages. */
export const NOT_NOW =
  /(?<!\p{L})(?:(?:for|in) this (?:test|run|step|turn|one|case|bug)|(?:just|only) (?:here|this|these)|this (?:once|time|one)|just once|for now|temporarily|in (?:19|20)\d\d|back then|at the time|originally|years? ago|according to|diesmal|vorerst|fürs erste|nur (?:dies\p{L}*|hier|jetzt)|damals|ursprünglich|seinerzeit|laut|(?:por )?esta vez|s[oó]lo (?:est[aeo]|aquí)|por ahora|en aquel (?:entonces|momento)|originalmente|según|cette fois|(?:juste|seulement) (?:cet?(?:te)?|ici)|pour l['’]instant|à l['’]époque|à l['’]origine|selon|desta vez|(?:só|apenas) (?:est[ae]|ess[ae]|aqui)|por enquanto|na época|segundo [oa])(?!\p{L})|今回だけ|とりあえず|当時|当初|によると|ここだけ|这次|只(?:这|此)|暂时|当时|当初/iu;

/** Refuses what was done, before the user says what to do. */
export const REFUSAL =
  /^(no|nope|nein|nee|non|não)[,.!]\s+(?:not (?:that|like that)|don['’]t|nicht so|das nicht|so nicht|eso no|así no|pas ça|isso não)[,.:;!]\s+/i;

/** A correction of what was done: a negation, then what to do. */
export const CORRECTION =
  /^(?:no|nope|nein|nee|non|não|いや|不)[,.:;!、，] (?:please |bitte |lieber |mejor |plutôt |melhor )?(?!(?:take a|keep (?:going|it up|on)|leave (?:it|that|this)(?: alone)?[.!]*$|move on|make (?:sure|it|the tests?)|return to|(?:write|send|call|name) me|send it|deja(?:lo)?[.!]|lass (?:das|es|mich|uns)|fais voir)(?!\p{L}))(?:use|keep|put|store|take|make|write|return|leave|move|call|name|send|pick|nimm|mach|leg|schreib|benutz|verwende|lass|usa|pon|haz|guarda|deja|utilise|mets|garde|prends|écris|fais|coloque|mantenha|deixe|faça)(?!\p{L})/iu;

export const RULES_FOLLOW =
  /(?<!\p{L})(?:rules?|conventions?|guidelines?|remember|regeln?|reglas?|convenciones|règles?|regras?|convenções)(?!\p{L}).{0,80}:$|(?:ルール|規則|规则|约定).{0,40}[:：]$/iu;

/** Begins a heading above what a runner fills into a prompt: notes of earlier rounds. */
export const OF_EARLIER =
  /^(?:(?:your|my|our|the|all|relevant|recent) )?(?:notes|learnings|lessons|earlier|previous|history|context|memory|notizen|erkenntnisse|frühere?s?|bisher\p{L}*|verlauf|kontext|notas|aprendizajes|aprendizados|anterior\p{L}*|historial|histórico|contexto|memoria|memória|précédente?s?|historique|contexte|mémoire)(?!\p{L})|^(?:メモ|履歴|これまで|以前|笔记|历史|上下文|之前)/iu;

/** A title that runners give each round. */
export const ROUND = /^(?:(?:iteration|round|loop) \d{1,5}(?: (?:of|\/) \d{1,5})?|throughline session)$/i;

export const GUESS =
  /(?<!\p{L})(?:might|may be|maybe|perhaps|probably|could be|possibly|i (?:think|guess|suspect)|seems?|appears?|likely|vermutlich|vielleicht|wahrscheinlich|könnte|scheint|quizás?|tal vez|probablemente|parece|podría|peut-être|probablement|semble|pourrait|talvez|provavelmente|poderia)(?!\p{L})|かもしれ|たぶん|おそらく|可能|也许|大概/iu;

/** Begins a request for other work, and so does not answer a question, in any of the languages. */
export const NEW_WORK =
  /^(?:now |then |next |please |jetzt |dann |bitte |ahora |luego |maintenant |ensuite |agora |depois )*(?:fix|add|update|create|implement|run|check|explain|show|remove|delete|refactor|test|look|find|review|commit|push|rename|why|how|can you|could you|behebe?|füge|erstelle?|prüfe?|erkläre?|zeig|lösche?|führe?|warum|arregla|corrige|añade|crea|ejecuta|revisa|explica|muestra|borra|elimina|por qué|ajoute|crée|lance|vérifie|explique|montre|supprime|pourquoi|adicione|crie|execute|rode|verifique|explique|mostre|apague|remova)(?!\p{L})|(?:直して|追加して|作って|実行して|確認して|説明して|削除して)|^(?:修复|添加|创建|运行|检查|解释|删除)/iu;

const LEAD = String.raw`(?:ok(?:ay)?|wait|actually|hm+|please|pls|and|also|but|so|then|well|note|important|btw|sorry|yes|great|thanks|doch|bitte|ach|por favor|s['’]il te plaît|oui|sim|sí|すみません|请)(?!\p{L})[,:!.、，：]?`;
/** Words before the sentence itself: "Ok, actually use dayjs instead". */
export const OPENING = new RegExp(`^(?:(?:${LEAD})\\s*){1,4}`, 'iu');
/** The same, with a negation before a comma. */
export const LEAD_IN = new RegExp(
  `^(?:(?:${LEAD}|(?:no|nope|nein|nee|non|não|いや|不)[,!.、，])\\s*){1,4}`,
  'iu',
);

const POLITE = `(?: (?:please|thanks|thank you|bitte|danke|por favor|gracias|s['’]il (?:te|vous) plaît|merci|obrigad[oa]))?`;
/** The whole reply, or what stands before a comma or a period. */
const reply = (words: string) => new RegExp(`^(?:${words})${POLITE}(?:$|[,.!;:、，。！])`, 'iu');

export const YES_OR_NO = reply(
  'yes|no|yep|yeah|nope|sure|ja|nein|nee|doch|sí|si|oui|non|sim|não|はい|いいえ|うん|好的?|是的?|对|不|不用|不要|要|可以',
);
export const ALL_OR_NONE = reply(
  'neither|both|either|beides?|keins|ninguno|ambos|les deux|aucun|nenhum|os dois|両方|どちらも|都要|都可以|都不要',
);

const VERBS =
  "i(?:['’]d)? (?:prefer|like|take|choose|pick)|(?:let['’]s )?(?:go with|use|take|choose|pick|do)|(?:ich )?nehme?n? (?:wir )?|nimm|usa|usemos|prefiero|prends|je préfère|prefiro|vamos con|vamos com";
/** A place in a list as a whole reply; more may follow where an article or "one" stands with it. */
const place = (words: string, digits: string, cjk = '前の') =>
  new RegExp(
    `^(?:(?:ok(?:ay)?|well|hm+|yes|ja|sí|oui|sim),? )?(?:(?:${VERBS}) )?(?!a (?:first|second|third|fourth|last))(?:(?:the |der |die |das |den |el |la |l['’]|le |[oa] )?(?:${words})${POLITE}[.!]*$|(?:(?:the|der|die|das|den|el|la|le|[oa]) (?:${words})|(?:the )?(?:${words}) (?:one|option|way))(?: (?:one|option|way|opción|opção|Option))?${POLITE}(?:$|[.,;!]| (?:because|weil|porque|parce)))|^[选用要就]?(?:[${digits}][番つ]目|第[${digits}]|${cjk})(?:の[方案ほう]+)?(?:で(?:お願い.{0,6}|いい.{0,4})?|に(?:し.{1,6})|を(?:使|選|採用).{0,6}|が(?:いい|良い).{0,4})?[个种项方案吧]*[。！]?$`,
    'iu',
  );

/** The places in order, then the last one. */
export const POSITIONS: readonly RegExp[] = [
  place('first|1st|former|erste[nrs]?|primer[oa]?|premi(?:er|ère)|primeir[oa]', '一1', '最初|前者'),
  place('second[e]?|2nd|zweite[nrs]?|segund[oa]|deuxième', '二2'),
  place('third|3rd|dritte[nrs]?|tercer[oa]?|troisième|terceir[oa]', '三3'),
  place('fourth|4th|vierte[nrs]?|cuart[oa]|quatrième|quart[oa]', '四4'),
  place('last|latter|letzte(?:re)?[nrs]?|últim[oa]|derni(?:er|ère)', '后', '最後|後者|后者|最后'),
];

/** Asks for one of several, or how much: a yes does not answer it, and a number may. */
export const ASKS_WHICH =
  /(?:^|[,.:;–—] |¿)\s*(?:(?:in|for|to|on|at|by|so|and|also|zu|auf|unter|en|de|à|para|a|por|em|und|y|et|e) )?(?:which|what|where|how|when|welche[nmrs]?|was|wo|wohin|wie|wann|qué|cuál(?:es)?|cuánt[oa]s|dónde|cómo|quel(?:le)?s?|quoi|où|comment|combien|qual|quais|quant[oa]s|onde|como)(?!\p{L})|どれ|どの|どこ|どちら|どっち|いくつ|何|哪|什么|多少|几/iu;

/** Asks for a number. */
export const HOW_MUCH =
  /(?<!\p{L})(?:how|wie|cuánt[oa]s|combien|quant[oa]s)(?!\p{L})|いくつ|何[回個件秒分本台人日]|多少|几/iu;

/** Words before the name of what is chosen. */
export const CHOOSES =
  /^(?:(?:ok(?:ay)?|hm+|yes|well|then|please|i(?:['’]d| would)?|we|let['’]s|use|take|prefer|like|choose|pick|want|go with|make it|keep|ja|bitte|ich|wir|nimm|nehmen|nehme|lieber|verwende|benutze?|sí|mejor|por favor|usa|usemos|prefiero|quiero|oui|plutôt|prends|utilise|je|préfère|sim|use|prefiro|quero|the|an?|in|on|at|der|die|das|den|dem|eine[nmr]?|el|la|los|las|une?|en|le|les|dans|o|os|as|em)(?!\p{L}|['’])[,:]?\s+|[用选要]\s*)*/iu;

/** May follow the name of what is chosen. */
export const CHOICE_ENDS =
  /^(?:$|[.,;:!()–—、，。！]|(?:please|because|since|as|for|it|bitte|weil|denn|nehmen|por favor|porque|ya que|para|parce|car|pour|pois)(?!\p{L})|(?:で|に(?:し|する)|を(?:使|採用|お願い)|が(?:いい|良い)|がよい)|吧|就)/iu;

/** Goes on after a noun with what it is or does: no answer. */
export const STATES =
  /^(?:['’]s|is|are|was|were|has|have|does|do|did|isn|doesn|don|can|still|already|fail\p{L}*|break\p{L}*|broke|ist|sind|war|hat|geht|schlägt|es|está|son|falla\p{L}*|est|sont|a|é|são|falha\p{L}*|は|が)(?!\p{L})/iu;
